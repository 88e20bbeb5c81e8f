import Glibc
import Synchronization
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A repair makes the control object anew.
@Suite struct OpenBesideRepairTests {
  /// A process that opens the table meanwhile, or after the repairer has died, finds sizes that can be: else nobody could repair it any
  /// more.
  @Test(arguments: Table.Variant.allCases) func sizesStayPossible(_ variant: Table.Variant) throws {
    let table = try Table.temporary(variant: variant)
    let segment = table.segment
    let ctl = try #require(segment.participant).ctl
    let repairsLeft = Atomic(300)
    let thread = startThread {
      while repairsLeft.load(ordering: .acquiring) > 0 {
        ctl.storeRelaxed(ControlLayout.garbageBytes, ctl.loadRelaxed(ControlLayout.garbageBytes) + 8)
        if (try? table.repair().isRepaired) != true { Issue.record("the damage was not repaired") }
        repairsLeft.subtract(1, ordering: .releasing)
      }
    }
    defer { pthread_join(thread, nil) }
    let check = ControlAttachmentCheck(ctl: ctl, data: segment.data, geometry: segment.geometry) {
      segment.geometry.controlBytes
    }
    var checks = 0
    while repairsLeft.load(ordering: .acquiring) > 0 {
      try check.check()
      checks += 1
    }
    #expect(checks > 0)
  }
}
