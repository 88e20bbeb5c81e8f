import Testing

@testable import SharedTable
@testable import TableEngine

@Suite struct UnitHintTests {
  /// A process that dies in a growth leaves hints of a unit that does not count yet. Blocks there would lie beyond what readers take for
  /// the table's end.
  @Test func noSearchBelievesAHintOfAUnitThatDoesNotCount() throws {
    let table = try Table.temporary(capacityBytes: 16 << 20)
    let allocator = try #require(table.segment.participant).state.allocator
    let (hints, unit) = (allocator.unitHints, allocator.unitCount)
    for which in [Summary.freeSuperframe, 0] {
      for counted in 0..<unit { hints.clear(which, counted) }
      hints.set(which, unit)
      #expect(hints.firstUnit(with: which) == nil, "kind \(which)")
      #expect(!hints.isUnitSet(which, unit), "nor does the next one look at it")
    }
    try allocator.growOneUnit()
    #expect(hints.firstUnit(with: Summary.freeSuperframe) == unit)
  }
}
