import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// Statistics are read beside writers, without the writer lock: a word may be of a block that was reused meanwhile.
@Suite struct StatisticsTests {
  private func withHeldVersion(_ body: (Table, Segment.Participant) throws -> Void) throws {
    let table = try Table.temporary()
    try table.set("key", 1)
    let snapshot = try table.snapshot()
    try table.set("key", 2)
    try table.set("key", 3)
    try body(table, try #require(table.segment.participant))
    withExtendedLifetime(snapshot) {}
  }

  /// What a record names may belong to another key by now: its header holds any words.
  @Test func aReusedBlockIsNotFollowed() throws {
    try withHeldVersion { table, participant in
      let ring = participant.state.superseded
      try #require(ring.head < ring.tail)
      for counter in ring.head..<ring.tail {
        let superseded = ring.block(counter).offset
        for field in [Entry.version, Entry.meta] {
          for word in [UInt64.max, UInt64(Int.max), 8, 1 << 40] {
            let saved = table.segment.data.loadRelaxed(superseded + field)
            table.segment.data.storeRelaxed(superseded + field, word)
            #expect(table.statistics.readers.count >= 1)
            table.segment.data.storeRelaxed(superseded + field, saved)
          }
        }
      }
    }
  }

  @Test func arbitraryRecordsAreLeftOut() throws {
    try withHeldVersion { table, participant in
      let before = table.statistics.readers.map(\.keptBytes)
      for ring in [participant.state.superseded, participant.state.retained, participant.state.limbo] {
        let tail = ring.tail
        // No size class has the code 60.
        for record in [UInt64.max, UInt64.max - 1, UInt64(BlockRef(offset: 1 << 20, code: 60).raw)] {
          participant.ctl.storeRelaxed(ring.position(tail), record)
          if ring.recordBytes > 8 { participant.ctl.storeRelaxed(ring.position(tail) + 8, .max) }
          ring.setTail(tail + 1)
          _ = table.statistics
          ring.setTail(tail)
        }
        // A head that a writer has moved on between two loads.
        ring.setTail(ring.head &- 1)
        _ = table.statistics
        ring.setTail(tail)
      }
      #expect(table.statistics.readers.map(\.keptBytes) == before)
    }
  }
}
