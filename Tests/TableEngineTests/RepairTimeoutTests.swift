import CShims
import Synchronization
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A repair's timeout is for each of its waits: the walk over a large table takes longer than a wait may.
@Suite struct RepairTimeoutTests {
  private static let timeout: UInt64 = 5_000_000_000

  @Test(arguments: Table.Variant.allCases) func theWalkTakesNothingFromTheTimeForReaders(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      for index in 0..<100 { try table.set("key \(index)", index) }
      let segment = table.segment
      let participant = try #require(segment.participant)
      // What a repair makes right whatever it walks over.
      participant.ctl.storeRelaxed(ControlLayout.garbageBytes, 1 << 40)
      let hasWalked = Atomic(false)
      let isReading = Atomic(false)
      let hasEnded = Atomic(false)
      let repair = TestThread {
        defer { hasEnded.store(true, ordering: .releasing) }
        try Checker(segment).inspect(timeoutNanoseconds: Self.timeout) { inspection throws(EngineError) in
          let salvage = TableSalvage(segment, byteCount: segment.claimedBytes, voucher: nil)
          salvage.run()
          // As if the walk had taken as long as a wait may.
          shmos_sleep(Self.timeout)
          hasWalked.store(true, ordering: .releasing)
          _ = eventually { isReading.load(ordering: .acquiring) }
          try Repairer(segment).apply(salvage, inspection)
        }
      }
      try #require(eventually { hasWalked.load(ordering: .acquiring) })
      try table.read { _ in
        isReading.store(true, ordering: .releasing)
        _ = eventually { isInTheWay(participant) || hasEnded.load(ordering: .acquiring) }
      }
      try repair.join()
      #expect(try table.check() == [])
    }
  }

  /// The repair has met a reader: it has noted it in the reader's slot, or sleeps until it has left.
  private func isInTheWay(_ participant: Segment.Participant) -> Bool {
    switch participant.state.variant {
    case .rcu:
      (0..<participant.slots.highWater).contains { participant.slots.inTheWaySince($0) != nil }
    case .rwlock: participant.ctl.loadAcquire(RWLayout.sleepers) != 0
    }
  }
}
