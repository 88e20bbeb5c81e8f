import SharedMemory

/// A barrier lets readers go first that have waited through the one before, and gives up one that is stopped.
extension RWExclusion {
  /// PAIR rw-polite. Other end: RWReaderGate.beginWait. Readers whose wait began before the last barrier ended enter before
  /// this one does. One that does not come within a slice is stopped: this writer marks its stamp, and no later one waits
  /// for that stamp again. Without the mark each write would take a slice while one reader is stopped. Fairness, not safety.
  func letWaitersGoFirst(deadline: UInt64) {
    guard ctl.loadAcquire(RWLayout.hint) != 0 else { return }
    ctl.storeRelease(RWLayout.hint, 0)
    // One slice for all of them: it passes for each reader alike.
    var patience: UInt64?
    for slot in 0..<slots.highWater {
      let stamp = slots.offset(slot) + SlotLayout.wait
      let seen = ctl.loadAcquire(stamp)
      if seen == 0 || WaitStamp.isGivenUp(seen) { continue }
      guard gate.waitedThroughBarrier(slot) else {
        ctl.storeRelease(RWLayout.hint, 1)
        continue
      }
      let end = patience ?? min(deadline, HostClock.monotonicNanoseconds &+ Self.sliceNanoseconds)
      patience = end
      do throws(EngineError) {
        try wait(deadline: end, slot: slot) { ctl.loadAcquire(stamp) != seen }
      } catch {
        work.readersGivenUp += 1
        // Compared, so that a reader which comes at this moment keeps what it stores.
        _ = ctl.compareAndSwap(stamp, expected: seen, desired: WaitStamp.givenUp(seen))
      }
      let left = ctl.loadAcquire(stamp)
      if left != 0, !WaitStamp.isGivenUp(left) { ctl.storeRelease(RWLayout.hint, 1) }
    }
  }
}
