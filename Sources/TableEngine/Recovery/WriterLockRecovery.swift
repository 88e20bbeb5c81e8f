import SharedMemory

/// Recovers the writer lock itself, after its owner died with it.
struct WriterLockRecovery {
  let participant: Segment.Participant

  /// Right after W was had from a dead owner, before anything may throw: W is given back on every way out.
  ///
  /// What a death left is in shared memory (`wseq` odd, the journal, `abandoned`), not only in EOWNERDEAD. So a waiter that
  /// times out on the way may give W back as consistent, and the next owner still finds the work that is left.
  func inherit() {
    Recoverer(state: participant.state).publishUnits()
    if participant.state.variant == .rwlock { participant.exclusion.inherit() }
    participant.lock.markConsistent()
  }
}

extension Segment.Participant {
  /// Waits for W, and puts W itself right if it came from a dead owner. Each participant takes W by this or one of the next two, but for a waiting
  /// reader of the rwlock variant, which knows no participant.
  /// - Throws: as ``WriterLock/lock(slot:timeoutNanoseconds:now:)``.
  @inline(__always)
  func acquireWriterLock(
    slot: Int, timeoutNanoseconds: UInt64, now: UInt64 = HostClock.coarseNanoseconds
  ) throws(EngineError) {
    inheritIfOwnerDied(try lock.lock(slot: slot, timeoutNanoseconds: timeoutNanoseconds, now: now))
  }

  /// The same by a barrier that does not wait: ``WriterLock/lockAtOnce(slot:now:)``.
  /// - Returns: false if W is not to be had at once.
  @inline(__always)
  func acquireWriterLockAtOnce(slot: Int, now: UInt64) -> Bool {
    guard let outcome = lock.lockAtOnce(slot: slot, now: now) else { return false }
    inheritIfOwnerDied(outcome)
    return true
  }

  /// The same for rare work that can wait: ``WriterLock/tryLock(slot:)``.
  /// - Returns: whether the last owner died with W; nil if W is not to be had at once.
  func tryWriterLock(slot: Int) -> WriterLock.Outcome? {
    guard let outcome = lock.tryLock(slot: slot) else { return nil }
    inheritIfOwnerDied(outcome)
    return outcome
  }

  @inline(__always)
  private func inheritIfOwnerDied(_ outcome: WriterLock.Outcome) {
    if outcome == .ownerDied { WriterLockRecovery(participant: self).inherit() }
  }
}
