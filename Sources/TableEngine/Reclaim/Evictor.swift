/// Ends snapshots that were held too long, without ever showing wrong data (G7). ``LimboBudget`` has it do so where
/// readers keep too much.
struct Evictor {
  let state: WriterState

  /// Ends snapshots, the oldest first, and reclaims what they kept, as long as that `isNeeded`; none unless it is the table's policy.
  ///
  /// Each step ends as many as all before it and one more, since a step may take long: a thousand snapshots are ended in ten.
  func evict(while isNeeded: () -> Bool) {
    guard StalledReaderPolicy(state.ctl) == .evict else { return }
    var count = 1
    while true {
      let snapshots = evictableVersions
      if snapshots.isEmpty { return }
      evictSnapshots(upTo: snapshots[min(count, snapshots.count) - 1])
      Collector(state: state).collectAll()
      guard isNeeded() else { return }
      count *= 2
    }
  }

  /// The versions of the snapshots that may be ended, the oldest first.
  private var evictableVersions: [UInt64] {
    (0..<state.slots.highWater).compactMap { evictable($0).map { $0 & SlotWord.versionMask } }.sorted()
  }

  /// Marks the snapshots up to this version as evicted that no live pin protects; their owners' next operations fail with
  /// `snapshotTooOld`.
  ///
  /// PAIR evict-snapshot. Other end: LongSnapshot.beginRead. The compare-and-swap and the HEAVY of the next scan
  /// order the mark before our look at pins: an operation that began before it is seen by its pin, one that begins
  /// after it sees the mark.
  func evictSnapshots(upTo version: UInt64 = .max) {
    let ctl = state.ctl
    for index in 0..<state.slots.highWater {
      guard let snapshot = evictable(index), snapshot & SlotWord.versionMask <= version else { continue }
      if ctl.compareAndSwap(snapshotWord(index), expected: snapshot, desired: SlotWord.evicted | snapshot) {
        ctl.storeRelaxed(ControlLayout.evictionCount, ctl.loadRelaxed(ControlLayout.evictionCount) &+ 1)
      }
    }
  }

  private func snapshotWord(_ slot: Int) -> Int { state.slots.offset(slot) + SlotLayout.snapshot }

  /// The slot's snapshot, if it is of an earlier version and no read that uses it is on its way.
  private func evictable(_ slot: Int) -> UInt64? {
    let snapshot = state.ctl.loadAcquire(snapshotWord(slot))
    let isInUse = state.ctl.loadAcquire(state.slots.offset(slot) + SlotLayout.pin) != SlotWord.idle
    guard SlotWord.isExact(snapshot), snapshot & SlotWord.versionMask < state.committed, !isInUse else { return nil }
    return snapshot
  }
}
