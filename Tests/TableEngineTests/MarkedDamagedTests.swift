import TableTestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A table that is marked damaged is left as it is until it is repaired.
@Suite struct MarkedDamagedTests {
  @Test(arguments: Table.Variant.allCases) func maintenanceChangesNothingInIt(_ variant: Table.Variant) throws {
    let table = try Table.temporary(variant: variant)
    for index in 0..<2_000 { try table.set("key \(index % 1_000)", index) }
    for index in 0..<900 { try table.remove("key \(index)") }
    let state = try #require(table.segment.participant).state
    state.ctl.storeRelease(ControlLayout.damaged, 1)
    func contents() -> [UInt64] {
      let data = stride(from: 0, to: state.blockPlaces.end, by: 8).map { state.data.loadRelaxed($0) }
      let rings = [state.limbo, state.superseded, state.retained].flatMap { [$0.head, $0.tail, $0.freeEnd, $0.mask] }
      return data + rings + [UInt64(state.journal.count), UInt64(state.allocator.unitCount)]
    }
    let before = contents()
    #expect(code { try table.administration.maintain() } == .damaged)
    #expect(code { try table.administration.shrink() } == .damaged)
    #expect(contents() == before)
    state.ctl.storeRelease(ControlLayout.damaged, 0)
    #expect(try table.administration.maintain() == (variant == .rcu))
    #expect(try table.check() == [])
  }
}
