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
