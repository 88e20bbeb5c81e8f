import Glibc
import SharedMemory
import Synchronization
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A repair ends the long snapshots, also one that is just being taken.
@Suite struct RepairBesideSnapshotTests {
  @Test func oneThatIsTakenMeanwhileIsEndedToo() throws {
    let table = try Table.temporary()
    for index in 0..<100 { try table.set("key \(index)", index) }
    let segment = table.segment
    let participant = try #require(segment.participant)
    let snapshot = try table.snapshot()
    // As between the two last stores with which a snapshot is taken: its version is fixed, and the pin is still there.
    let slot = try #require(
      (0..<participant.slots.highWater).first {
        SlotWord.isExact(participant.ctl.loadAcquire(participant.slots.offset($0) + SlotLayout.snapshot))
      })
    let pin = participant.slots.offset(slot) + SlotLayout.pin
    participant.ctl.storeRelease(pin, segment.committed)
    participant.ctl.storeRelaxed(ControlLayout.recyclableUpTo, segment.committed + 100)

    let before = segment.committed
    let outcome = Mutex<Result<RepairReport, EngineError>?>(nil)
    let thread = startThread {
      let result = Result { () throws(EngineError) in try Repairer(segment).run(timeoutNanoseconds: 20_000_000_000) }
      outcome.withLock { $0 = result }
    }
    // Its empty version comes before the look at the snapshots.
    try #require(eventually { segment.committed != before })
    // Its look at them comes before the scan that notes this one.
    try #require(eventually { participant.slots.stalledReader(slot).heldNanoseconds != nil })
    participant.ctl.storeRelease(pin, SlotWord.idle)
    pthread_join(thread, nil)
    #expect(try outcome.withLock { $0 }?.get().isRepaired == true)
    #expect(code { try snapshot.get("key 1", as: Int.self) } == .snapshotTooOld)
    #expect(try table.check() == [])
  }
}
