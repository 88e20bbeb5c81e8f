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

  private func shrink(_ table: Table) throws { while try table.administration.shrink()?.isUnfinished != false {} }

  /// A table of one key that has given back what it can do without, and what it has claimed then.
  private func shrunkTable() throws -> (Table, WriterState, small: Int) {
    let table = try Table.temporary(capacityBytes: 16 << 20)
    try table.set("key", 1)
    let state = try #require(table.segment.participant).state
    try shrink(table)
    return (table, state, state.backing.allocatedBytes)
  }

  /// A shrinker that died, or a repair, leaves pages of rings and journal behind what those use.
  @Test func pagesOfRingsThatNothingUsesAreFound() throws {
    let (table, state, small) = try shrunkTable()
    for region in [state.journal.spareRegion, state.retained.spareRegion] {
      let lost = region.upperBound - (64 << 10)
      try state.backing.allocateControl(offset: lost, count: 64 << 10)
      state.ctl.fill(lost, count: 64 << 10, with: 1)
    }
    #expect(state.backing.allocatedBytes >= small + (128 << 10))
    try shrink(table)
    #expect(state.backing.allocatedBytes == small)
    #expect(try table.check() == [])
  }

  /// A reader at the newest version is in the way only once the shrinker has made the next one. Then the rings get their sizes back: by those
  /// alone a later call knows of pages that nothing was written to.
  @Test func ringsThatAReaderKeepsLargeAreShrunkLater() throws {
    let (table, state, small) = try shrunkTable()
    try state.retained.reserve(4 * Ring.initialRecords, state.backing)
    #expect(state.backing.allocatedBytes > small)
    var snapshot: Snapshot? = try table.snapshot()
    let version = table.version
    try shrink(table)
    #expect(table.version == version + 1, "the shrinker's")
    let isTooLarge = state.retained.isTooLarge
    #expect(isTooLarge)
    #expect(try snapshot?.get("key") == 1)
    snapshot = nil
    try shrink(table)
    #expect(state.backing.allocatedBytes == small)
    #expect(try table.check() == [])
  }

  /// A repair asks for no memory that a shrink gave back, but counts the units behind those that the table says it has, if values lie
  /// there.
  @Test(arguments: Table.Variant.allCases) func aRepairKeepsTheTableSmall(_ variant: Table.Variant) throws {
    let table = try Table.temporary(variant: variant, capacityBytes: 64 << 20)
    let value = [UInt8](repeating: 7, count: 100_000)
    func fill() throws { for index in 0..<400 { try table.set("key \(index)", value) } }
    try fill()
    let participant = try #require(table.segment.participant)
    let allocator = participant.state.allocator
    let grown = allocator.unitCount
    for index in 1..<400 { try table.remove("key \(index)") }
    repeat { try table.administration.maintain() } while try table.administration.shrink()?.isUnfinished != false
    let small = allocator.unitCount
    try #require(small < grown / 2)
    let pages = allocator.backing.allocatedBytes

    func damageAndRepair() throws {
      allocator.ctl.storeRelaxed(
        ControlLayout.garbageBytes, allocator.ctl.loadRelaxed(ControlLayout.garbageBytes) + 8)
      #expect(try table.repair().isRepaired)
      #expect(try table.check() == [])
    }
    try damageAndRepair()
    #expect(allocator.unitCount == small)
    #expect(allocator.backing.allocatedBytes < pages + Geometry.unitBytes)
    try fill()
    #expect(allocator.unitCount == grown)
    allocator.ctl.storeRelaxed(ControlLayout.units, UInt64(small))
    allocator.publishUnits()
    try damageAndRepair()
    #expect(allocator.unitCount > small)
    for index in 0..<400 { #expect(try table.get("key \(index)") == value) }
  }
}
