import SharedMemory
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

@Suite struct SlotKeeperTests {
  /// The kernel marks 2,048 mutexes of a thread that dies: what it held beyond those would be held for ever.
  @Test func noThreadHoldsMoreSnapshotsThanTheKernelCanMark() throws {
    var snapshots: [LongSnapshot] = []
    var tables: [Table] = []
    for _ in 0..<3 {
      let table = try Table.temporary(variant: .rcu, capacityBytes: 4 << 20)
      tables.append(table)
      for _ in 0..<900 { snapshots.append(try LongSnapshot(table.segment)) }
    }
    var slotCounts: [UInt64: Int] = [:]
    for table in tables {
      let slots = table.segment.participant!.slots
      for index in 0..<slots.highWater where slots.ctl.loadRelaxed(slots.offset(index) + SlotLayout.purpose) != 0 {
        slotCounts[slots.ctl.loadRelaxed(slots.offset(index) + SlotLayout.tid), default: 0] += 1
      }
    }
    #expect(slotCounts.values.reduce(0, +) >= snapshots.count)
    #expect(slotCounts.values.allSatisfy { $0 <= 2_000 }, "\(slotCounts)")
    // And those that were given back make room again.
    snapshots.removeAll()
    for table in tables {
      let slots = table.segment.participant!.slots
      #expect(
        eventually {
          (0..<slots.highWater).allSatisfy {
            slots.ctl.loadRelaxed(slots.offset($0) + SlotLayout.snapshot) == SlotWord.idle
          }
        })
    }
  }
}
