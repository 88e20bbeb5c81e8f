import CShims
import SharedMemory
import TableTestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// Statistics are gathered without W: a writer may change each word that they are made of between two looks.
@Suite struct StatisticsRaceTests {
  /// They ask the clock once, and look at the readers after that: a writer may find one in the way in between.
  @Test func aReaderThatHasJustComeIntoTheWayIsThereForNoTime() throws {
    let table = try Table.temporary()
    let slots = try #require(table.segment.participant).slots
    try table.set("key", 1)
    let snapshot = try table.snapshot()
    try table.set("key", 2)
    let index = try #require(
      (0..<slots.highWater).first {
        SlotWord.isExact(slots.ctl.loadAcquire(slots.offset($0) + SlotLayout.snapshot))
      })
    slots.noteInTheWay(index, snapshot.version)
    let future = HostClock.monotonicNanoseconds + 60_000_000_000
    slots.ctl.storeRelaxed(slots.offset(index) + SlotLayout.inTheWaySince, future)
    #expect(table.statistics.readers.filter(\.isLongSnapshot).map(\.inTheWayNanoseconds) == [0])
    #expect(table.statistics.readers.filter(\.isStalled).isEmpty, "it has just come")
    let past = HostClock.monotonicNanoseconds - StalledReaderPolicy.patienceNanoseconds
    slots.ctl.storeRelaxed(slots.offset(index) + SlotLayout.inTheWaySince, past)
    #expect(table.statistics.readers.filter(\.isStalled).map(\.isLongSnapshot) == [true])
    #expect(try snapshot.get("key") == 1)
  }

  /// What was pushed is loaded before what was popped.
  @Test(arguments: [ControlLayout.garbageBytes, ControlLayout.limbo + shm_ring_bytes_pushed_offset])
  func whatIsReclaimedMeanwhileIsNotKept(word: Int) throws {
    let table = try Table.temporary()
    let state = try #require(table.segment.participant).state
    #expect(table.statistics.limboBytes == 0)
    let pushed = state.ctl.loadRelaxed(word)
    state.ctl.storeRelaxed(word, pushed &- 4096)
    #expect(table.statistics.limboBytes == 0)
    state.ctl.storeRelaxed(word, pushed)
  }

  /// What a superframe is comes before how many of its blocks are in use.
  @Test func aSlabThatBecomesAnotherMeanwhileHoldsNoMoreThanItCan() throws {
    let table = try Table.temporary()
    for index in 0..<400 { try table.set("key \(index)", index) }
    let state = try #require(table.segment.participant).state
    let largest = SizeClasses.count - 1
    let superframe = try #require((0..<64).first { (2...4).contains(state.allocator.kind(0, $0)) })
    let kind = state.geometry.descriptor(0) + UnitLayout.kind + superframe
    let old = state.ctl.byte(kind)
    let before = table.statistics.memory!.used
    state.ctl.storeByte(kind, UInt8(largest + 1))
    #expect(table.statistics.memory!.used <= before + SizeClasses.slabBytes)
    state.ctl.storeByte(kind, old)
    #expect(try table.check() == [])
  }
}
