import TableTestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// Hints of units that the table cannot have: a search would follow them into the hints of another kind, and clear those.
@Suite struct HintDamageTests {
  @Test(arguments: [0, 1]) func hintsOfUnitsBeyondTheCapacityAreFound(level: Int) throws {
    let table = try Table.temporary(capacityBytes: 4 << 20)
    try table.set("key", 1)
    let state = try #require(table.segment.participant).state
    #expect(try table.check() == [])
    state.ctl.setBit(40, at: state.geometry.summaryOffset + level * 8)
    #expect(try table.check() != [])
    #expect(try table.repair().isRepaired)
    #expect(try table.check() == [])
    #expect(try table.get("key") == 1)
  }
}
