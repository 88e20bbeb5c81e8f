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

  /// In a full file system the rings cannot grow: passes have to keep up with removals, however many a barrier makes.
  @Test(arguments: [1, 150, 300]) func removalsDoNotMakeTheRingsGrow(byBarriersOf count: Int) throws {
    try Self.withState { table, state in
      for index in 0..<14_000 { try table.set("key\(index)", index) }
      for start in stride(from: 0, to: 14_000, by: count) {
        try table.barrier { (tx: inout SharedTable.Transaction) throws in
          for index in start..<min(start + count, 14_000) { try tx.remove("key\(index)") }
        }
      }
      #expect(state.superseded.mask == UInt64(Ring.initialRecords - 1))
    }
  }

  /// One process makes the pass that the other's removals made due, too.
  @Test func removalsOfTwoProcessesInTurnDoNotMakeTheRingsGrow() throws {
    try withSmallTable(.rcu) { table throws in
      let state = try #require(table.segment.participant).state
      for index in 0..<15_000 { try table.set("key\(index)", index) }
      let other = try worker(table)
      // Not one each: then the same process would make all passes.
      for index in stride(from: 0, to: 15_000, by: 3) {
        try table.remove("key\(index)")
        try table.remove("key\(index + 1)")
        try other.ask("remove key\(index + 2)", expecting: "ok")
      }
      try other.finish()
      #expect(state.superseded.mask == UInt64(Ring.initialRecords - 1))
    }
  }

  /// A full table's tombstones lie in the reserve. Values of their size that come later take the places of what was removed, but none of
  /// the reserve: what lies there stays, until a full table could not remove a key.
  @Test func noValueTakesATombstonesPlaceInTheReserve() throws {
    let table = try Table.temporary(capacityBytes: 4 << 20)
    let state = try #require(table.segment.participant).state
    let key = { (index: Int) in "key-\(10_000_000 + index)" }
    var next = 0
    let fill = {
      while code({ try table.set(key(next), next) }) == nil { next += 1 }
    }
    fill()
    var tombstones = 0
    for start in stride(from: 0, to: 10_000, by: 1_000) {
      try table.barrier { (tx: inout SharedTable.Transaction) throws in
        for index in start..<start + 1_000 { #expect(try tx.remove(key(index))) }
      }
      let ring = state.superseded
      tombstones += (ring.head..<ring.tail).count { ring.block($0) > state.allocator.reserveStart }
      fill()
    }
    #expect(tombstones > 1_000)
    let base = unsafe UnsafeRawPointer(state.data.pointer(0))
    try table.read { view in
      try view.forEach { key, entry in
        let offset = unsafe entry.found.entry - base
        #expect(BlockRef(offset: offset, code: 0) < state.allocator.reserveStart)
      }
    }
    #expect(try table.check() == [])
  }

  /// The version after which a tombstone's block may go is at most the next one. No number of passes waits for a later one, which
  /// only damage can have left.
  @Test(arguments: [1_000, -1]) func aStampThatCannotBeIsFoundAndHoldsNobodyUp(after offset: Int) throws {
    let table = try Table.temporary()
    for key in ["a", "b"] { try table.set(key, 1) }
    for key in ["a", "b"] { try table.remove(key) }
    let state = try #require(table.segment.participant).state
    let ring = state.superseded
    let counter = try #require((ring.head..<ring.tail).first { ring.stamp($0) == SupersededRing.unsettled })
    let version = state.data.loadRelaxed(ring.block(counter).offset + Entry.version)
    let stamp = offset < 0 ? version - 1 : state.committed + UInt64(offset)
    state.ctl.storeRelaxed(ring.position(counter) + SupersededRing.stamp, stamp)
    #expect(try table.check().contains { $0.contains("tombstone") })
    let before = table.version
    _ = try table.administration.maintain(passes: 2_000)
    #expect(table.version < before + 100)
    if offset > 0 {
      #expect(try table.repair().isRepaired)
      #expect(try table.check() == [])
    }
  }
}
