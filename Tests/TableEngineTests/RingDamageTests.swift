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
}
