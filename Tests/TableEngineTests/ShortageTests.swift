import SharedMemory
import TableTestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// What a barrier that found no room has the next one make room for.
@Suite struct ShortageTests {
  @Test func aBarrierOfTooManyChangesAsksForNoBlock() throws {
    let table = try Table.temporary(capacityBytes: 1 << 20)
    let state = try #require(table.segment.participant).state
    // An earlier barrier found no block of this size.
    state.shortCode = SizeClasses.code(byteCount: 100_000)
    let refused = error {
      try table.barrier { (tx: inout SharedTable.Transaction) throws in while true { try tx.set("key", 1) } }
    }
    #expect(refused?.message.contains("barrier") == true)
    #expect(state.ctl.loadRelaxed(ControlLayout.roomWanted) == 1)
    try table.set("key", 2)
    #expect(state.ctl.loadRelaxed(ControlLayout.roomWanted) == 0)
    #expect(try table.check() == [])
  }

  /// A transaction asks for room only once it has had so many records: the journal's pages and the rings must have it.
  @Test func theRoomThatIsCountedIsThere() throws {
    let table = try Table.temporary(capacityBytes: 16 << 20)
    let state = try #require(table.segment.participant).state
    try table.set("key", 1)
    #expect(state.recordsWithRoom > 0)
    #expect(state.recordsWithRoom <= state.journal.recordsWithPages)
    #expect(UInt64(state.recordsWithRoom) * 2 <= state.leastRingMask)
  }

  /// What readers keep is no reason for a shortage that would stay if they kept nothing.
  @Test func aJournalThatCannotGrowIsNoReadersFault() throws {
    let table = try Table.temporary(capacityBytes: 1 << 20)
    let state = try #require(table.segment.participant).state
    for index in 0..<100 { try table.set("key", index) }
    let snapshot = try table.snapshot()
    for index in 0..<100 { try table.set("key", index) }
    #expect(throws: EngineError.self) { try TableEngine.Transaction(state: state).reserve(1 << 20) }
    // As if not its limit but a full file system had kept the journal from growing.
    guard case .full(.fileSystem) = LimboBudget(state: state).noteAndExplain(.full(.fileSystem)) else {
      Issue.record("a reader is blamed")
      return
    }
    #expect(try snapshot.get("key") == 99)
  }

  /// Where passes gain nothing although no reader is in the way, as where the rings cannot grow, a writer tries again, since a reader may have
  /// gone only after the pass, and then gives up.
  @Test func aWriterThatNoReaderHoldsUpTriesAgainAndGivesUp() throws {
    let table = try Table.temporary(capacityBytes: 1 << 20)
    let participant = try #require(table.segment.participant)
    let state = participant.state
    try table.set("key", 1)
    let garbage = state.ctl.loadRelaxed(ControlLayout.garbageBytes)
    let slot = Int(try table.segment.threadRecord().pointee.slotIndex)
    #expect(participant.lock.tryLock(slot: slot) == .acquired)
    func scans(_ body: () -> Void) -> Int {
      let before = state.work.slotsScanned
      body()
      return (state.work.slotsScanned - before) / state.slots.highWater
    }
    // As if versions were kept that no pass comes to.
    state.ctl.storeRelaxed(
      ControlLayout.garbageBytes, garbage + state.ctl.loadRelaxed(ControlLayout.limboBudget) + 1)
    let scansOfPasses = scans { Collector(state: state).collectAll() }
    var refused: EngineError?
    let scansOfWriter = scans {
      do throws(EngineError) { try LimboBudget(state: state).enforce() } catch { refused = error }
    }
    guard case .full(.limbo(nil)) = refused else { throw refused ?? EngineError.full(.capacity) }
    #expect(scansOfWriter >= 2 * (scansOfPasses + 1), "each time the passes', and one that looks for the reader")
    state.ctl.storeRelaxed(ControlLayout.garbageBytes, garbage)
    participant.lock.unlock()
    try table.set("key", 2)
    #expect(try table.check() == [])
  }

  /// Where the table cannot grow, in a full file system say, free frames that do not begin a superframe serve, too.
  @Test func aSubTableTakesAnyFramesInARowBeforeTheTableIsFull() throws {
    try withPoisonedTable(Table.Options(capacityBytes: 4 << 20)) { name, table throws in
      let object = try SharedObject.open(name: ObjectName.data(name), writable: false)
      let state = try #require(table.segment.participant).state
      let allocator = Allocator(
        ctl: state.ctl, geometry: table.segment.geometry, backing: BackingPages(data: object, control: object),
        data: state.data, work: WorkCounters())
      #expect(allocator.unitCount < table.segment.geometry.unitCount)
      var runs: [BlockRef] = []
      while let run = allocator.firstRun(frames: 8, .anything) {
        allocator.mark(run)
        runs.append(run)
      }
      let half = SizeClasses.slabBytes / 2
      let first = try #require(
        runs.indices.dropLast().first {
          runs[$0].offset % SizeClasses.slabBytes == half && runs[$0 + 1].offset == runs[$0].offset + half
        })
      #expect(throws: EngineError.self) { try allocator.find(code: SizeClasses.runCode + 16, for: .anything) }
      for run in runs[first...(first + 1)] { allocator.release(run) }
      #expect(try allocator.find(code: SizeClasses.runCode + 16, for: .anything).offset == runs[first].offset)
    }
  }

  enum End: CaseIterable { case evicted, released }

  /// A snapshot may keep as many records as the rings hold. Where those cannot grow, it is ended as one that keeps the memory, and with it
  /// or with its owner's release the rings have room again.
  @Test(arguments: End.allCases) func aSnapshotThatFillsTheRingsDoesNotWedgeTheTable(_ end: End) throws {
    let options = Table.Options(
      capacityBytes: 16 << 20, limboBudgetBytes: 1 << 30, stalledReaderPolicy: end == .evicted ? .evict : .refuse)
    try withPoisonedTable(options) { _, table throws in
      for index in 0..<10_000 { try table.set("key\(index)", "old") }
      for index in 0..<3_000 { try table.set("more\(index)", "old") }
      for index in 0..<3_000 { try table.remove("more\(index)") }
      while try table.administration.maintain() == true {}
      let participant = try #require(table.segment.participant)
      var snapshot: Snapshot? = try table.snapshot()
      let process = try worker(table)
      try process.ask("limit-files \(participant.object.status().size)", expecting: "ok")
      for index in 0..<10_000 {
        let answer = try process.ask("set key\(index) new")
        if answer == "ok" { continue }
        try #require(end == .released && snapshot != nil && answer.hasPrefix("error full"), "key\(index): \(answer)")
        snapshot = nil
        try process.ask("set key\(index) new", expecting: "ok")
      }
      if let snapshot { #expect(code { try snapshot.get("key0", as: String.self) } == .snapshotTooOld) }
      #expect((snapshot == nil) == (end == .released))
      #expect(try table.check() == [])
      try process.finish()
    }
  }

  /// Snapshots are ended from the oldest on, and no more of them than have to be.
  @Test func aYoungerSnapshotIsNotEndedForWhatAnOlderOneKeeps() throws {
    let options = Table.Options(capacityBytes: 16 << 20, limboBudgetBytes: 1_200_000, stalledReaderPolicy: .evict)
    try withPoisonedTable(options) { _, table throws in
      let value = [UInt8](repeating: 1, count: 100_000)
      for index in 0..<10 { try table.set("key\(index)", value) }
      let older = try table.snapshot()
      for index in 0..<10 { try table.set("key\(index)", value) }
      let younger = try table.snapshot()
      for index in 0..<4 { try table.set("key\(index)", [2]) }
      #expect(code { try older.get("key0", as: [UInt8].self) } == .snapshotTooOld)
      #expect(try younger.get("key0") == value)
      #expect(try table.check() == [])
    }
  }
}
