import Testing

@testable import SharedTable
@testable import TableEngine

/// What a process remembers from one turn of the writer lock to the next, and a shrink makes untrue.
@Suite struct ShrinkRoomTests {
  /// A shrink that may not look at the readers, as where membarrier is denied beside a light one, reclaims nothing and makes the rings
  /// small all the same.
  @Test func aBarrierAfterAShrinkHasTheRoomOfTheSmallRings() throws {
    let table = try Table.temporary(capacityBytes: 16 << 20)
    func overwrite(_ value: Int) throws {
      try table.barrier { (tx: inout SharedTable.Transaction) throws in
        for index in 0..<5_000 { try tx.set("key \(index)", value) }
      }
    }
    for value in 0..<3 { try overwrite(value) }
    while try table.administration.maintain() == true {}
    let participant = try #require(table.segment.participant)
    let state = participant.state
    let isGrown = state.superseded.isTooLarge
    #expect(isGrown)
    // The process was the last owner of the lock, and knows of room for as many.
    try table.set("another", 1)
    let slot = Int(try table.segment.threadRecord().pointee.slotIndex)
    #expect(participant.lock.tryLock(slot: slot) == .acquired)
    let observers = ObserverLock(data: table.segment.dataObject, name: nil)
    // As if all were in use: no unit is emptied, so nothing is reclaimed on the way.
    _ = Shrinker(state: state, observers: observers).run(usedBytes: table.segment.geometry.capacityBytes)
    participant.lock.unlock()
    #expect(!state.superseded.isTooLarge && state.superseded.mask == UInt64(Ring.initialRecords - 1))
    try overwrite(3)
    #expect(try table.check() == [])
    for index in 0..<5_000 { #expect(try table.get("key \(index)") == 3) }
  }

  /// A slab that gave this process its last block may have become, by another's shrink, one of those that the reserve consists of.
  @Test func noValueTakesTheRoomOfTombstonesAfterAShrink() throws {
    let table = try Table.temporary(capacityBytes: 16 << 20)
    try table.set("key", 1)
    let participant = try #require(table.segment.participant)
    let allocator = participant.state.allocator
    let slot = Int(try table.segment.threadRecord().pointee.slotIndex)
    #expect(participant.lock.tryLock(slot: slot) == .acquired)
    defer { participant.lock.unlock() }
    let (unit, sizeClass) = (allocator.unitCount - 1, SizeClasses.code(byteCount: 1000))
    for superframe in 0..<Geometry.superframesPerUnit where allocator.kind(unit, superframe) == 0 {
      // As if a tombstone had been the first to need the slab.
      allocator.makeSlab(unit, superframe, sizeClass)
      allocator.recent[sizeClass] = unit * Geometry.superframesPerUnit + superframe
      let isReserved = superframe >= Geometry.superframesPerUnit - Allocator.reservedSuperframes
      #expect((allocator.findInRecentSlab(sizeClass) == nil) == isReserved, "superframe \(superframe)")
      #expect(allocator.unmakeSlabIfEmpty(unit, superframe))
    }
    allocator.recent[sizeClass] = allocator.unitCount * Geometry.superframesPerUnit
    #expect(allocator.findInRecentSlab(sizeClass) == nil)
  }
}
