import TableTestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// What a barrier that found no room has the next one make room for.
@Suite struct ShortageTests {
  @Test func aBarrierOfTooManyChangesAsksForNoBlock() throws {
    let table = try Table.temporary(capacityBytes: 1 << 20)
    let state = try #require(table.segment.participant).state
    // An earlier barrier found no block of this size.
    state.shortCode = SizeClasses.code(byteCount: 100_000)
    let refused = error {
      try table.barrier { (tx: inout SharedTable.Transaction) throws in while true { try tx.set("key", 1) } }
    }
    #expect(refused?.message.contains("barrier") == true)
    #expect(state.ctl.loadRelaxed(ControlLayout.roomWanted) == 1)
    try table.set("key", 2)
    #expect(state.ctl.loadRelaxed(ControlLayout.roomWanted) == 0)
    #expect(try table.check() == [])
  }
}
