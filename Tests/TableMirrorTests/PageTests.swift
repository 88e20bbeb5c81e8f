import Glibc
import SharedMemory
import SharedTable
@testable import TableMirror
import TableTestSupport
import TestSupport
import Testing
import UpstreamWrites

@Suite struct PageTests {
  @Test func aPageIsAMegabyteOrWhatComesInASecond() {
    let page = ContentPage()
    for number in 0..<64 { page.append(key: Array("key \(number)".utf8), value: [UInt8](repeating: 0, count: 8192)) }
    // At full speed: four times as many, if that is no more than a megabyte.
    #expect(ContentReader.limit(after: page, 16, took: .milliseconds(10)) == 64)
    #expect(ContentReader.limit(after: page, 64, took: .milliseconds(10)) == 127)
    #expect(ContentReader.limit(after: page, 64, took: .seconds(4)) == 16)
    #expect(ContentReader.limit(after: page, 64, took: .seconds(4000)) == 1)
  }

  /// The table's keys do not have the prefix: only what is in the table must fit into it.
  @Test func aLongPrefixTakesNoRoom() async throws {
    let session = OnePageSession(prefix: [UInt8](repeating: 0x70, count: 1000), count: 100, valueLength: 50)
    let contents = try await ContentReader(session, prefixLength: 1000, mostBytes: 10_000).read(after: session.place)
    #expect(contents.count == 100)
    await #expect(throws: MirrorFailure.self) {
      try await ContentReader(session, prefixLength: 1000, mostBytes: 5_000).read(after: session.place)
    }
  }
}

/// A store that has some keys and does not change.
private struct OnePageSession: MirrorSession {
  let prefix: [UInt8]
  let count: Int
  let valueLength: Int
  let place = SourcePosition(cluster: 1, revision: 1, term: 1)
  var peer: String { "one page" }

  func position() async throws -> SourcePosition { place }

  func read(
    into page: ContentPage, after key: [UInt8]?, at revision: Int64, limit: Int
  ) async throws -> (position: SourcePosition, hasMore: Bool) {
    for index in 0..<count {
      page.append(key: prefix + [UInt8(index)], value: [UInt8](repeating: 0, count: valueLength))
    }
    return (place, false)
  }

  func watch(from revision: Int64, _ receive: @Sendable (WatchAnswer) async throws -> Void) async throws {}
  func timeLeft(ofLease lease: Int64) async throws -> LeaseTTL { .isUnknown }
  func requestProgress() async {}
  func commit(_ commit: UpstreamCommit, timeout: Duration) async throws(UpstreamRefusal) -> UpstreamCommit.Outcome {
    throw .away("it takes none")
  }
}
