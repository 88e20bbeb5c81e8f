import SharedMemory

/// Ends long snapshots, the oldest first, however long they have been held (G7). A reader of an ended one gets an error, never wrong data. ``LimboBudget`` has it do so where
/// readers keep too much.
struct Evictor {
  let state: WriterState

  /// Ends snapshots, the oldest first, and reclaims what they kept, as long as that `isNeeded`; none unless it is the table's policy.
  ///
  /// Each step ends twice as many as the one before, since a step may take long: a thousand snapshots are ended in ten. A
  /// snapshot that begins meanwhile stays. It keeps nothing, and threads that begin one whenever theirs is ended would keep this from ending.
  ///
  /// While a section or a `get` would keep all of it, it ends none, or no more of them: the writer waits for that reader, or names it, and goes
  /// on from there in its next attempt.
  /// - Parameter spares: whether it ends none beside a reader that is not stalled, either. A writer that is short of room does not wait for
  ///   readers alone: while others write, some reader is always in the way. So one step is made in each of its attempts.
  /// - Returns: the slot of the reader for which it stopped, if any.
  func evict(sparingBesideAnyReader spares: Bool, while isNeeded: () -> Bool) -> Int? {
    guard StalledReaderPolicy(state.ctl) == .evict else { return nil }
    let newest = state.committed
    var progress = EvictionProgress(after: state.eviction, now: HostClock.monotonicNanoseconds)
    state.eviction = EvictionProgress()
    var isFirst = true
    while true {
      let snapshots = evictableVersions(before: newest)
      guard !snapshots.isEmpty, let scan = ReaderScan.take(state) else { return nil }
      if let slot = scan.slotOfSectionInTheWay(state), spares || !isFirst || isStalled(slot) {
        state.eviction = progress
        return slot
      }
      // A section that was in the way may have ended since the last pass: then what it kept may be enough.
      if Collector(state: state).collectAll(), !isNeeded() { return nil }
      evictSnapshots(before: snapshots[min(progress.count, snapshots.count) - 1] + 1)
      progress.count = min(progress.count * 2, state.slots.highWater)
      Collector(state: state).collectAll()
      if !isNeeded() { return nil }
      isFirst = false
    }
  }

  private func isStalled(_ slot: Int) -> Bool { StalledReaderPolicy.isStalled(state.slots.readerInTheWay(slot)) }

  /// Ends all snapshots of earlier versions.
  func evictAll() { evictSnapshots(before: state.committed) }

  /// The versions of the snapshots that may be ended, the oldest first.
  private func evictableVersions(before version: UInt64) -> [UInt64] {
    (0..<state.slots.highWater).compactMap { evictable($0, before: version) }.map { $0 & SlotWord.versionMask }.sorted()
  }

  /// Marks the snapshots before this version as evicted that their slots do not pin; their owners' next operations fail with
  /// `snapshotTooOld`.
  ///
  /// PAIR evict-snapshot. Other end: LongSnapshot.beginRead. The compare-and-swap and the HEAVY of the next scan
  /// order the mark before our look at pins: an operation that began before it is seen by its pin, one that begins
  /// after it sees the mark.
  private func evictSnapshots(before version: UInt64) {
    let ctl = state.ctl
    for index in 0..<state.slots.highWater {
      guard let snapshot = evictable(index, before: version) else { continue }
      if ctl.compareAndSwap(snapshotWord(index), expected: snapshot, desired: SlotWord.evicted | snapshot) {
        ctl.storeRelaxed(ControlLayout.evictionCount, ctl.loadRelaxed(ControlLayout.evictionCount) &+ 1)
      }
    }
  }

  private func snapshotWord(_ slot: Int) -> Int { state.slots.offset(slot) + SlotLayout.snapshot }

  /// The slot's snapshot, if it is of an earlier version and not that of an open section, which its slot pins.
  private func evictable(_ slot: Int, before version: UInt64) -> UInt64? {
    let snapshot = state.ctl.loadAcquire(snapshotWord(slot))
    let isInUse = state.ctl.loadAcquire(state.slots.offset(slot) + SlotLayout.pin) != SlotWord.idle
    guard SlotWord.isExact(snapshot), snapshot & SlotWord.versionMask < version, !isInUse else { return nil }
    return snapshot
  }
}
