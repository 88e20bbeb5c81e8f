import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// Who reports about threads looks only. To clear a slot takes its mutex for a moment, and a process that is stopped in that moment keeps
/// a dead thread looking alive.
@Suite struct ReportTests {
  @Test(arguments: Table.Variant.allCases) func noReportClearsADeadThreadsSlot(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      // By that this thread has a slot of its own: else the report would take the dead thread's.
      #expect(try !table.contains("a"))
      let slots = try #require(table.segment.participant).slots
      let victim = try worker(table)
      try victim.ask("keyed a", expecting: "in")
      let slot = try #require((0..<slots.highWater).first { slots.holder($0).pid == victim.pid && slots.isHeld($0) })
      let thread = Presence(
        slot: UInt64(slot), since: slots.ctl.loadRelaxed(slots.offset(slot) + SlotLayout.since), pid: UInt64(victim.pid)
      )
      #expect(try table.segment.isPresent(thread))
      try victim.killAndWait()

      #expect(try !table.segment.isPresent(thread))
      #expect(!table.statistics.readers.contains { $0.holder.pid == victim.pid })
      #expect(table.segment.barrierHolder?.pid != victim.pid)
      #expect(try table.administration.clearDeadReaders().map(\.pid).contains(victim.pid))
      #expect(try table.administration.clearDeadReaders().isEmpty)
    }
  }
}
