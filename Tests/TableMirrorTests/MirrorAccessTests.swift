import Glibc
import SharedMemory
import SharedTable
@testable import TableMirror
import TableTestSupport
import TestSupport
import Testing

@Suite struct MirrorAccessTests {
  /// A pipe that nobody writes into is no reason to wait: its reader has the table's thread.
  @Test func filesAreReadWithoutWaiting() throws {
    let path = "/tmp/mirror-access-\(uniqueTableName())"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let hasRead = Counter()
    let thread = TestThread {
      let bytes = try MirrorAccess.contents(path)
      hasRead.increment()
      return bytes
    }
    let isRead = eventually { hasRead.value == 1 }
    #expect(isRead)
    if !isRead { close(open(path, O_WRONLY)) }
    #expect(try thread.join() == [])
  }

  @Test func whatIsNoSuchFileIsSaid() {
    #expect(throws: MirrorFailure.self) { try MirrorAccess.contents("/dev/zero") }
    #expect(throws: MirrorFailure.away("/nowhere: cannot be read (open: No such file or directory (ENOENT))")) {
      try MirrorAccess.contents("/nowhere")
    }
  }
}
