/// Ends snapshots that were held too long, without ever showing wrong data (G7). ``LimboBudget`` has it do so where
/// readers keep too much.
struct Evictor {
  let state: WriterState

  /// Ends snapshots and reclaims what they kept, if that is the table's policy.
  /// - Returns: whether it is.
  func evictIfPolicy() -> Bool {
    guard StalledReaderPolicy(state.ctl) == .evict else { return false }
    evictSnapshots()
    Collector(state: state).collectAll()
    return true
  }

  /// Marks every old snapshot that no live pin protects as evicted; its owner's next operation fails with
  /// `snapshotTooOld`.
  ///
  /// PAIR evict-snapshot. Other end: LongSnapshot.beginRead. The compare-and-swap and the HEAVY of the next scan
  /// order the mark before our look at pins: an operation that began before it is seen by its pin, one that begins
  /// after it sees the mark.
  func evictSnapshots() {
    let ctl = state.ctl
    let slots = state.slots
    let committed = state.committed
    for index in 0..<slots.highWater {
      let word = slots.offset(index) + SlotLayout.snapshot
      let snapshot = ctl.loadAcquire(word)
      let isInUse = ctl.loadAcquire(slots.offset(index) + SlotLayout.pin) != SlotWord.idle
      guard SlotWord.isExact(snapshot), snapshot & SlotWord.versionMask < committed, !isInUse else { continue }
      if ctl.compareAndSwap(word, expected: snapshot, desired: SlotWord.evicted | snapshot) {
        ctl.storeRelaxed(ControlLayout.evictionCount, ctl.loadRelaxed(ControlLayout.evictionCount) &+ 1)
      }
    }
  }
}
