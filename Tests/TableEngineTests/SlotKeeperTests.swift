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
    let slotCounts = keptSlots(of: tables)
    #expect(slotCounts.values.reduce(0, +) >= snapshots.count)
    #expect(slotCounts.values.allSatisfy { $0 <= 2_000 }, "\(slotCounts)")
    // And those that were given back make room again, in the same threads.
    snapshots.removeAll()
    #expect(eventually { tables.allSatisfy(isFree) })
    for table in tables {
      for _ in 0..<900 { snapshots.append(try LongSnapshot(table.segment)) }
    }
    #expect(Set(keptSlots(of: tables).keys) == Set(slotCounts.keys))
  }

  /// How many slots of snapshots each thread has.
  private func keptSlots(of tables: [Table]) -> [UInt64: Int] {
    var slotCounts: [UInt64: Int] = [:]
    for table in tables {
      let slots = table.segment.participant!.slots
      for index in 0..<slots.highWater where slots.ctl.loadRelaxed(slots.offset(index) + SlotLayout.purpose) != 0 {
        slotCounts[slots.ctl.loadRelaxed(slots.offset(index) + SlotLayout.tid), default: 0] += 1
      }
    }
    return slotCounts
  }

  /// Whether no thread holds a slot of a snapshot any more.
  private func isFree(_ table: Table) -> Bool {
    let slots = table.segment.participant!.slots
    return (0..<slots.highWater).allSatisfy { index in
      guard slots.ctl.loadRelaxed(slots.offset(index) + SlotLayout.purpose) != 0 else { return true }
      guard case .acquired = slots.mutex(index).tryLock() else { return false }
      try? slots.mutex(index).unlock()
      return true
    }
  }
}
