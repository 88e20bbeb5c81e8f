import TableTestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// Records of superseded versions that no crash can have left are found before a pass follows them.
@Suite struct RingDamageTests {
  @Test(arguments: [UInt64.max & ~1, 1 << 40, 4096]) func aNewerVersionThatIsNoneIsFound(offset: UInt64) throws {
    let table = try Table.temporary()
    try table.set("key", 1)
    let snapshot = try table.snapshot()
    try table.set("key", 2)
    let ring = try #require(table.segment.participant).state.superseded
    let word = ring.position(ring.tail &- 1) + SupersededRing.newer
    let newer = ring.ctl.loadRelaxed(word)
    #expect(try table.check() == [])
    ring.ctl.storeRelaxed(word, offset)
    #expect(try table.check() != [])
    #expect(try table.repair().isRepaired)
    #expect(try table.check() == [])
    #expect(newer != offset)
    #expect(try table.get("key") == 2)
    #expect(code { try snapshot.get("key", as: Int.self) } == .snapshotTooOld)
  }

  /// A pass would take a version that the snapshot still reads for one that nothing leads to, and free it.
  @Test(arguments: [UInt64(1), 2]) func aStampBelowTheNewerVersionIsFound(by difference: UInt64) throws {
    let table = try Table.temporary()
    try table.set("another", 1)
    try table.set("key", 1)
    let snapshot = try table.snapshot()
    try table.set("key", 2)
    let ring = try #require(table.segment.participant).state.superseded
    try expectFound(in: table, ring, ring.tail &- 1, SupersededRing.stamp) { $0 - difference }
    #expect(try snapshot.get("key", as: Int.self) == 1)
  }

  /// *retained* holds the value that a snapshot reads, and the tombstone that took its place.
  private func withRetained(_ body: (Table, Ring) throws -> Void) throws {
    let table = try Table.temporary()
    try table.set("another", 1)
    try table.set("key", 1)
    let snapshot = try table.snapshot()
    try table.remove("key")
    while try table.administration.maintain() == true {}
    let ring = try #require(table.segment.participant).state.retained
    #expect(ring.count == 2)
    try body(table, ring)
    #expect(try snapshot.get("key", as: Int.self) == 1)
  }

  @Test func aRetainedStampBelowItsVersionIsFound() throws {
    try withRetained { table, ring in
      for counter in ring.head..<ring.tail { try expectFound(in: table, ring, counter, RetainedRing.stamp) { _ in 1 } }
    }
  }

  @Test func aRetainedStampAboveTheNewerVersionIsFound() throws {
    try withRetained { table, ring in
      try table.set("another", 2)
      for counter in ring.head..<ring.tail {
        try expectFound(in: table, ring, counter, RetainedRing.stamp) { _ in table.version }
      }
    }
  }

  /// A pass would take a tombstone that the index still leads to for one that was taken out of it.
  @Test func aRetainedTombstonesBitIsChecked() throws {
    try withRetained { table, ring in
      for counter in ring.head..<ring.tail { try expectFound(in: table, ring, counter, RetainedRing.entry) { $0 ^ 1 } }
    }
  }

  /// It was settled, as no reader is at an older version, and a value has taken its place. So its record has no bit, and that is sound.
  @Test func aTombstoneThatWasSettledBeforeItWasRetainedIsSound() throws {
    let table = try Table.temporary()
    try table.set("key", 1)
    try table.remove("key")
    let snapshot = try table.snapshot()
    try table.set("key", 2)
    while try table.administration.maintain() == true {}
    let ring = try #require(table.segment.participant).state.retained
    try #require(ring.count == 1)
    let entry = Int(ring.word(ring.head, RetainedRing.entry))
    let data = table.segment.data
    #expect(entry & 1 == 0 && EntryMeta(raw: data.loadRelaxed(entry + Entry.meta)).isTombstone)
    // Its own version would be the stamp of one that has the bit.
    try expectFound(in: table, ring, ring.head, RetainedRing.stamp) { _ in data.loadRelaxed(entry + Entry.version) }
    #expect(try snapshot.get("key", as: Int.self) == nil)
  }

  /// Damages a word of a record for as long as a check takes, which finds it.
  private func expectFound(
    in table: Table, _ ring: Ring, _ counter: UInt64, _ field: Int, _ change: (UInt64) -> UInt64
  ) throws {
    let word = ring.word(counter, field)
    #expect(try table.check() == [])
    ring.ctl.storeRelaxed(ring.position(counter) + field, change(word))
    #expect(try table.check() != [], "record \(counter)")
    ring.ctl.storeRelaxed(ring.position(counter) + field, word)
    #expect(try table.check() == [])
  }
}
