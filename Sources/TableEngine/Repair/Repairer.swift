import CShims
import SharedMemory

/// Repairs what no crash explains: see "Repair" in DESIGN.md.
///
/// The table is marked damaged first and sound last. Between the two the repairing process changes, in the index of *data*, only words that lead to
/// something that is given up, and the links of whole entries to older versions; then it stores what counts and orders the rest: the numbers of keys, the
/// newest version, the change log. It makes *ctl* anew from *data* alone. So a death on the way, at any store, leaves a table that is marked damaged, that readers
/// may read, and that the next repair starts over.
public struct Repairer {
  let segment: Segment

  public init(_ segment: Segment) { self.segment = segment }

  /// Checks the table and, if anything is wrong, keeps what is provably whole and gives up the rest.
  ///
  /// Recovers after a dead writer first. Writers wait meanwhile; in the rwlock variant readers too. In the RCU variant
  /// readers go on, but repair waits for the sections that are open, and ends every long snapshot.
  /// - Parameters:
  ///   - timeoutNanoseconds: for each wait, for other barriers and for readers; not for the work.
  ///   - dryRun: only say what would be given up.
  ///   - force: even if that is more than half of the keys.
  ///   - voucher: a key whose value says what the others are: it is given up with whatever else is, in the same step.
  /// - Throws: what ``Checker/run(timeoutNanoseconds:)`` throws; at once `timedOut` naming the thread that runs a barrier of
  ///   some keys; `repairLosesMost`; `irreparable`; `full` where /dev/shm has no room.
  public func run(
    timeoutNanoseconds: UInt64, dryRun: Bool = false, force: Bool = false, voucher: [UInt8]? = nil
  ) throws(EngineError) -> RepairReport {
    try Checker(segment).inspect(timeoutNanoseconds: timeoutNanoseconds) { inspection throws(EngineError) in
      let participant = inspection.participant
      var report = RepairReport(problems: inspection.problems)
      guard !inspection.problems.isEmpty else {
        report.keptCount = participant.state.keyCount
        return report
      }
      try ControlAttachmentCheck(segment, participant).checkBelieved()
      let salvage: TableSalvage
      do throws(SystemError) {
        salvage = TableSalvage(segment, byteCount: try byteCount(participant.ctl), voucher: voucher)
      } catch {
        throw .system(error)
      }
      salvage.run()
      report.losses = salvage.losses
      report.droppedCount = salvage.dropped
      report.keptCount = salvage.keyCount
      if dryRun { return report }
      guard force || !salvage.losesMost else {
        throw .repairLosesMost
      }
      // What a key lock covers must stay as it is, and its holder needs W to end: it cannot be waited for here.
      if let holder = participant.keyLocks.holder(except: inspection.slot) {
        throw .timedOut(participant.slots.holder(holder))
      }
      try apply(salvage, inspection)
      report.isRepaired = true
      return report
    }
  }

  /// How much of the data object there is to look at: what the table says, and what has memory behind that, if the table says too little. A look
  /// at memory that was given back would claim it again, or be the end of this process where /dev/shm is full.
  private func byteCount(_ ctl: MappedMemory) throws(SystemError) -> Int {
    let geometry = segment.geometry
    let units = Int(min(ctl.loadRelaxed(ControlLayout.units), UInt64(geometry.unitCount)))
    let size = try segment.dataObject.status().size
    let end = try segment.dataObject.endOfMemory(from: min(geometry.unitOffset(units), size))
    let unitsWithMemory = (end - geometry.unitsOffset + Geometry.unitBytes - 1) / Geometry.unitBytes
    return min(geometry.unitOffset(unitsWithMemory), size)
  }

  /// Under W, after the walk. Each of its waits may take as long as the whole call was given for other barriers.
  func apply(_ salvage: TableSalvage, _ inspection: Checker.Inspection) throws(EngineError) {
    let participant = inspection.participant
    let state = participant.state
    let data = state.data
    participant.slots.coverAll()
    switch state.variant {
    case .rwlock:
      try participant.exclusion.takeOver(slot: inspection.slot, timeoutNanoseconds: inspection.timeoutNanoseconds)
    // A repair that is kept from its end by an old reader ends here: it has ended long snapshots, and changed nothing in the table.
    case .rcu: try awaitReaders(inspection)
    }
    // From here to the last line no barrier runs, whichever process dies.
    let mark = DamageMark(ctl: state.ctl)
    let wasMarked = mark.isSet
    mark.set()
    crashFence()
    // Odd until all is well: keeps readers of the rwlock variant out even after our death.
    let wasOdd = data.loadRelaxed(DataLayout.wseq) & 1 != 0
    if !wasOdd { state.bumpSequence() }
    salvage.stores.forEach { data.storeRelease($0.key, $0.value) }
    // I4: nothing uncommitted is left that this version would make visible.
    CommitPoint(state: state).publish(state.committed &+ 1, keyCount: UInt64(salvage.keyCount))
    data.storeRelease(DataLayout.reclaimed, state.committed)
    // Whatever comes of this repair: a watcher, and who keeps the table's store, must look for what is gone by now.
    state.log.restart(after: state.committed)
    shm_fence_release()
    if state.variant == .rcu {
      do throws(EngineError) {
        try awaitReaders(inspection)
      } catch {
        if !wasOdd { state.bumpSequence() }
        // Nothing of *ctl* was touched yet, and writers may go on as before, unless an older version lives again: a record in a ring names its
        // block, which would be freed under it.
        if !wasMarked, !salvage.revivesOlder { mark.clear() }
        throw error
      }
    }
    try giveUp(salvage, inspection)
    if let problem = TableCheck(segment, participant).run().first {
      throw .irreparable("repair did not cure it: \(problem)")
    }
    let count = state.ctl.loadRelaxed(ControlLayout.recoveryCount)
    state.ctl.storeRelaxed(ControlLayout.recoveryCount, count &+ 1)
    mark.clear()
    if state.variant == .rwlock { participant.exclusion.leaveExclusive() }
  }

  /// Once no reader looks behind the newest version of a key: takes away what else leads to something given up, and makes all of its memory free.
  ///
  /// If this throws, the table stays marked: the records of *ctl* and the words of *data* contradict each other.
  private func giveUp(_ salvage: TableSalvage, _ inspection: Checker.Inspection) throws(EngineError) {
    let state = inspection.participant.state
    for (offset, word) in salvage.lateStores { state.data.storeRelease(offset, word) }
    leadNowhere(salvage.vacancies, state)
    // A reader that began after the last wait may look at a tombstone, or into a part of the index that is lost.
    if state.variant == .rcu { try tickAndAwaitReaders(inspection) }
    try ControlRebuild(state: state).run(salvage)
    // One that began since may look for a key in the log: it would take the next writer's record for a sub-table's words.
    if state.variant == .rcu, !salvage.vacancies.isEmpty { try tickAndAwaitReaders(inspection) }
    // Once more: the keys of a part that is lost were found after the log was first emptied.
    state.log.restart(after: state.committed)
    state.bumpSequence()
  }

  /// Leads readers of the lost parts of the index to a sub-table without keys, until each part has one of its own. They go by a directory word's
  /// offset alone, and may find keys by a word that the walk did not believe.
  ///
  /// That sub-table is the beginning of the log, which has no records. No block lies there, so nobody gives it out, and the next walk believes
  /// no word that leads there.
  private func leadNowhere(_ vacancies: [TableSalvage.Vacancy], _ state: WriterState) {
    if vacancies.isEmpty { return }
    state.data.zero(DataLayout.log, count: SubTable.byteCount)
    for vacancy in vacancies { vacancy.lead(to: DataLayout.log, in: state.data) }
  }

  /// Waits for every section that began before this. Then no reader is led by a word that had another value before.
  private func tickAndAwaitReaders(_ inspection: Checker.Inspection) throws(EngineError) {
    let state = inspection.participant.state
    CommitPoint(state: state).publishTick()
    state.data.storeRelease(DataLayout.reclaimed, state.committed)
    shm_fence_release()
    try awaitReaders(inspection)
  }

  /// Ends the long snapshots and waits for every section that began before the newest version: afterwards no
  /// reader looks behind the newest version of a key.
  /// - Throws: `timedOut` naming a reader, if that takes the inspection's timeout; `notPermitted`.
  private func awaitReaders(_ inspection: Checker.Inspection) throws(EngineError) {
    let state = inspection.participant.state
    let deadline = HostClock.monotonicNanoseconds &+ inspection.timeoutNanoseconds
    // First a look alone: a process that may not look at the readers ends no snapshots.
    _ = try look(state)
    while true {
      // Each time: one that was being taken had a pin at the last look, and is not ended beside that.
      Evictor(state: state).evictAll()
      let scan = try look(state)
      guard scan.isBehind(state.committed) else { return }
      guard HostClock.monotonicNanoseconds < deadline else { throw .timedOut(scan.oldestSlot.map(state.slots.holder)) }
      shmos_sleep(500_000)
    }
  }

  private func look(_ state: WriterState) throws(EngineError) -> ReaderScan {
    guard let scan = ReaderScan.take(state) else {
      throw .notPermitted(
        "this process may not order other processes' reads (membarrier)",
        instead: "run the repair where the system allows that call")
    }
    return scan
  }
}

extension TableSalvage {
  /// More is given up than is kept: then something that all depends on is wrong, and a look by a person is due.
  fileprivate var losesMost: Bool {
    dropped > max(keyCount, 16) || lostPrefixes > 1 << (SubTable.maximumDepth - 1)
  }
}

extension Slots {
  /// Makes sure that the scans see every slot that a living thread holds.
  fileprivate func coverAll() {
    let mark = ctl.loadAcquire(ControlLayout.slotsHighWater)
    if mark > UInt64(count) {
      _ = ctl.compareAndSwap(ControlLayout.slotsHighWater, expected: mark, desired: UInt64(count))
    }
    for index in (highWater..<count).reversed() where isHeld(index) { return raiseHighWater(index + 1) }
  }
}
