import TableTestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A tombstone leaves the index by the place that its record remembers, if its bucket word is still there.
@Suite struct TombstoneTests {
  private static func withState(_ body: (Table, WriterState) throws -> Void) throws {
    let table = try Table.temporary(capacityBytes: 16 << 20)
    try body(table, #require(table.segment.participant).state)
  }

  private static func set(_ keys: Range<Int>, in table: Table) throws {
    try table.barrier { (tx: inout SharedTable.Transaction) throws in
      for key in keys { try tx.set("key \(key)", key) }
    }
  }

  /// The word that a tombstone's record leads to, the newest of the ring; nil if it leads to none.
  private static func wordOfNewest(_ state: WriterState) -> Int? {
    let (ring, counter) = (state.superseded, state.superseded.tail &- 1)
    #expect(ring.stamp(counter) == SupersededRing.unsettled)
    let hint = TombstoneHint(raw: ring.word(counter, SupersededRing.newer))
    return state.lookup.word(of: ring.block(counter).offset, at: hint)
  }

  @Test func aTombstonesRecordLeadsToItsWord() throws {
    try Self.withState { table, state in
      try Self.set(0..<20_000, in: table)
      for key in stride(from: 0, to: 20_000, by: 100) {
        #expect(try table.remove("key \(key)"))
        let word = try #require(Self.wordOfNewest(state), "key \(key)")
        let block = state.superseded.block(state.superseded.tail &- 1)
        #expect(BucketWord.offset(state.data.loadRelaxed(word)) == block.offset, "key \(key)")
        #expect([nil, word].contains(state.lookup.word(of: block.offset, at: .unknown)), "key \(key)")
      }
    }
  }

  /// What a split has made of the sub-tables meanwhile: the word that the record remembers is another key's, or of nobody.
  @Test func aTombstoneWhoseSubTableWasSplitTakesNoOtherKeyWithIt() throws {
    try Self.withState { table, state in
      try Self.set(0..<1_000, in: table)
      while try table.administration.maintain() == true {}
      // Too few for a commit to reclaim.
      for key in 0..<50 { #expect(try table.remove("key \(key)")) }
      #expect(Self.wordOfNewest(state) != nil)
      let unsettled = state.superseded.count
      #expect(unsettled >= 100)
      // Its commit reclaims: the sub-tables that were split lie in limbo.
      try Self.set(1_000..<30_000, in: table)
      while try table.administration.maintain() == true {}
      #expect(state.superseded.count == 0)
      #expect(try table.check() == [])
      for key in 0..<30_000 { #expect(try table.get("key \(key)") == (key < 50 ? nil : key)) }
      #expect(table.count == 29_950)
    }
  }
}
