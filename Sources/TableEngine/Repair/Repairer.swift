import CShims
import SharedMemory

/// What a repair found and did.
public struct RepairReport: Sendable {
  /// What was wrong, one sentence each; empty: nothing, and nothing was done.
  public var problems: [String] = []
  /// Each key or place that was given up, at most 10,000.
  public var losses: [String] = []
  /// How many words that led to a key were given up. Of an unreadable part of the index nobody knows.
  public var droppedCount = 0
  public var keptCount = 0
  /// False for a dry run, and where there was nothing to do.
  public var isRepaired = false
}

/// Repair of what no crash explains: see "Repair" in DESIGN.md.
///
/// The table is marked damaged first and sound last. Between the two only words of *data* change that lead to
/// something that is given up, and *ctl* is made anew from *data* alone; so a death on the way, at any store, leaves a
/// table that is marked damaged, that readers may read, and that the next repair starts over.
extension Segment {
  /// Checks the table and, if anything is wrong, keeps what is provably whole and gives up the rest.
  ///
  /// Recovers after a dead writer first. Writers wait meanwhile; in the rwlock variant readers too. In the RCU variant
  /// readers go on, but repair waits for the sections that are open, and ends every long snapshot.
  /// - Parameter dryRun: only say what would be given up.
  /// - Parameter force: even if that is more than half of the keys.
  /// - Throws: what ``check(timeoutNanoseconds:)`` throws; at once `timedOut` naming who runs a barrier of some keys; `damaged` if it would give up more than half, or cannot
  ///   repair; `full` where /dev/shm has no room.
  public func repair(
    timeoutNanoseconds: UInt64, dryRun: Bool = false, force: Bool = false
  ) throws(EngineError) -> RepairReport {
    try inspect(timeoutNanoseconds: timeoutNanoseconds) { participant, slot, deadline, problems throws(EngineError) in
      var report = RepairReport(problems: problems)
      guard !problems.isEmpty else {
        report.keptCount = participant.writer.keyCount
        return report
      }
      guard committed < SlotWord.evicted >> 1 else { throw .damaged("its version cannot be \(committed)") }
      var salvage: Salvage
      do throws(SystemError) {
        salvage = Salvage(self, byteCount: try dataObject.status().size)
      } catch {
        throw .system(error)
      }
      salvage.run()
      report.losses = salvage.losses
      report.droppedCount = salvage.dropped
      report.keptCount = salvage.keyCount
      if dryRun { return report }
      guard force || !salvage.losesMost else {
        throw .damaged("a repair would give up more than half of its keys, and was not told to")
      }
      // What is claimed must stay as it is, and whoever claims it needs W to end: it cannot be waited for here.
      if let claimant = participant.claims.holder(except: slot) {
        throw .timedOut(participant.slots.holder(claimant))
      }
      try apply(&salvage, participant, slot: slot, deadline)
      report.isRepaired = true
      return report
    }
  }

  private func apply(
    _ salvage: inout Salvage, _ participant: Participant, slot: Int, _ deadline: UInt64
  ) throws(EngineError) {
    let writer = participant.writer
    let ctl = participant.ctl
    participant.slots.coverAll()
    if variant == .rwlock { try participant.exclusion.takeOver(slot: slot, deadline: deadline) }
    // From here to the last line nobody writes, whoever dies.
    let wasDamaged = ctl.loadRelaxed(ControlLayout.damaged)
    ctl.storeRelease(ControlLayout.damaged, 1)
    crashFence()
    // Odd until all is well: keeps readers of the rwlock variant out even after our death.
    let wasOdd = data.loadRelaxed(DataLayout.wseq) & 1 != 0
    if !wasOdd { writer.bumpSequence() }
    salvage.stores.forEach { data.storeRelease($0.key, $0.value) }
    // I4: nothing uncommitted is left that this version would make visible.
    writer.publishVersion(keyCount: salvage.keyCount)
    data.storeRelease(DataLayout.reclaimed, committed)
    shm_fence_release()
    if variant == .rcu {
      do throws(EngineError) {
        try writer.awaitReaders(deadline: deadline)
      } catch {
        // Nothing of *ctl* was touched yet: writers may go on as before.
        if !wasOdd { writer.bumpSequence() }
        ctl.storeRelease(ControlLayout.damaged, wasDamaged)
        throw error
      }
    }
    for (offset, word) in salvage.lateStores { data.storeRelease(offset, word) }
    try writer.rebuildControl(salvage)
    try writer.fillVacancies(salvage.vacancies)
    writer.bumpSequence()
    var check = TableCheck(self, participant.writer)
    check.run()
    guard check.problems.isEmpty else { throw .damaged("repair did not cure it: \(check.problems[0])") }
    ctl.storeRelaxed(ControlLayout.recoveryCount, ctl.loadRelaxed(ControlLayout.recoveryCount) &+ 1)
    ctl.storeRelease(ControlLayout.damaged, 0)
    if variant == .rwlock { participant.exclusion.leaveExclusive() }
  }
}

extension Salvage {
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

extension Writer {
  /// Ends the long snapshots and waits for every section that began before the newest version: afterwards nobody
  /// looks behind the newest version of a key.
  fileprivate func awaitReaders(deadline: UInt64) throws(EngineError) {
    evictSnapshots()
    let slots = Slots(ctl: ctl, count: geometry.slotCount)
    while true {
      guard let (_, scan) = scanReaders() else {
        throw .notPermitted("this process may not order other processes' reads (membarrier)")
      }
      guard scan.isBehind(committed) else { return }
      guard HostClock.monotonicNanoseconds < deadline else { throw .timedOut(scan.oldestSlot.map(slots.holder)) }
      shmos_sleep(500_000)
    }
  }

  /// Journal, rings, allocator, log: as of a table in which nothing is superseded.
  fileprivate func rebuildControl(_ salvage: Salvage) throws(EngineError) {
    journal.clear()
    ctl.storeRelaxed(ControlLayout.journalAllocated, 0)
    try journal.reserve(1, backing)
    for ring in [limbo, superseded, retained] {
      ctl.zero(ring.header, count: 56)
      try ring.initialize(backing)
    }
    ctl.storeRelaxed(ControlLayout.garbageBytes, 0)
    ctl.storeRelaxed(ControlLayout.retainedRescanEnd, 0)
    ctl.storeRelaxed(ControlLayout.retainedSignature, 0)
    ctl.storeRelaxed(ControlLayout.collectionWanted, 0)
    try allocator.rebuild(salvage.map)
    if !log.isSound(committed: committed) { log.restart() }
  }

  /// An empty sub-table for each part of the index that was lost.
  fileprivate func fillVacancies(_ vacancies: [Salvage.Vacancy]) throws(EngineError) {
    for vacancy in vacancies {
      let block = try allocator.find(code: SizeClasses.code(byteCount: SubTable.byteCount), fromReserve: false)
      allocator.mark(block)
      data.zero(block.offset, count: SubTable.byteCount)
      let word = DirectoryWord(subTable: block.offset, depth: vacancy.depth)
      for index in 0..<vacancy.count { data.storeRelease(vacancy.offset + index * 8, word.raw) }
    }
  }
}

extension ReaderScan {
  /// Does anyone read at a version before this one, or may yet?
  fileprivate func isBehind(_ version: UInt64) -> Bool {
    lowestPin < version || lowestPending < version || exact.contains { $0 < version }
  }
}

extension ChangeLog {
  /// Forgets everything: a watcher finds that it missed what came before.
  fileprivate func restart() {
    let possible: Range<UInt64> = 0..<(1 << 60)
    let end = [endPosition, tailPosition].filter(possible.contains).max() ?? 0
    let ordinal = possible.contains(endOrdinal) ? endOrdinal : 0
    data.storeRelease(DataLayout.logTailPosition, (end + UInt64(byteCount)) & ~15)
    data.storeRelaxed(DataLayout.logEndOrdinal, ordinal + 1)
    data.storeRelease(DataLayout.logEndPosition, (end + UInt64(byteCount)) & ~15)
  }
}
