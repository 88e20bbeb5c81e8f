import SharedMemory

/// The three ways in which a participant takes W. What a dead owner did to the lock itself is put right on each of them.
///
/// A waiting reader of the rwlock variant takes it by ``WriterLock``: it knows no participant.
extension Segment.Participant {
  /// Waits for W.
  /// - Throws: as ``WriterLock/lock(slot:timeoutNanoseconds:now:)``.
  @inline(__always)
  func acquireWriterLock(
    slot: Int, timeoutNanoseconds: UInt64, now: UInt64 = HostClock.coarseNanoseconds
  ) throws(EngineError) {
    inheritIfOwnerDied(try lock.lock(slot: slot, timeoutNanoseconds: timeoutNanoseconds, now: now))
  }

  /// Takes W for a barrier that does not wait: ``WriterLock/lockAtOnce(slot:now:)``.
  /// - Returns: false if W is not to be had at once.
  @inline(__always)
  func acquireWriterLockAtOnce(slot: Int, now: UInt64) -> Bool {
    guard let outcome = lock.lockAtOnce(slot: slot, now: now) else { return false }
    inheritIfOwnerDied(outcome)
    return true
  }

  /// Takes W for rare work that can wait for another time: ``WriterLock/tryLock(slot:)``.
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
