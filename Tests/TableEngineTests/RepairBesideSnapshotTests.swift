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
    try #require(eventually { participant.slots.readerInTheWay(slot).heldNanoseconds != nil })
    participant.ctl.storeRelease(pin, SlotWord.idle)
    pthread_join(thread, nil)
    #expect(try outcome.withLock { $0 }?.get().isRepaired == true)
    #expect(code { try snapshot.get("key 1", as: Int.self) } == .snapshotTooOld)
    #expect(try table.check() == [])
  }

  /// What it gives up is gone before it waits for the readers: watchers and the table's store are told so, also if it gives up waiting.
  @Test func oneThatReadersKeepFromItsEndTellsTheWatchers() throws {
    try withSmallTable(.rcu) { table throws in
      for index in 0..<100 { try table.set("key \(index)", index) }
      let state = try #require(table.segment.participant).state
      let subTable = DirectoryWord(state.data.loadRelaxed(DataLayout.root)).offset
      let words = stride(from: subTable, to: subTable + SubTable.bucketCount * 64, by: 8).filter { word in
        BucketWord.offset(state.data.loadRelaxed(word)) != 0
      }
      // One key's word leads to another key's entry.
      state.data.storeRelaxed(words[0], state.data.loadRelaxed(words[1]))
      let reader = try worker(table)
      try #require(try reader.ask("read").hasPrefix("in"))
      let log = state.log.endPosition
      #expect(throws: EngineError.self) { try Repairer(table.segment).run(timeoutNanoseconds: 50_000_000) }
      #expect(state.log.endPosition > log)
      try table.set("key 200", 200)
      try reader.ask("end", expecting: "ok")
      #expect(try Repairer(table.segment).run(timeoutNanoseconds: 20_000_000_000).isRepaired)
      #expect(try table.check() == [])
    }
  }
}
