import SharedMemory
import TableTestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// For how long a reader has been in the way, as statistics tell.
@Suite struct StalledTimeTests {
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
    #expect(table.statistics.readers.filter(\.isLongSnapshot).map(\.stalledNanoseconds) == [0])
    #expect(try snapshot.get("key") == 1)
  }
}
