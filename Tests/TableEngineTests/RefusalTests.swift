import Glibc
import SharedMemory
import Testing

@testable import SharedTable
@testable import TableEngine

/// What is said where the system refuses a table.
@Suite struct RefusalTests {
  @Test func aReadOnlyFileSystemIsNotAMatterOfRights() {
    let refused = EngineError(opening: SystemError(call: "shm_open", errno: EROFS))
    for error in [refused, refused.forbiddingWrites] {
      let words = TableError(error, table: "t").message
      #expect(words.contains("/dev/shm is mounted read-only here") && words.contains("EROFS"))
      #expect(!words.contains("root") && !words.contains("owner"), "\(words)")
    }
  }
}
