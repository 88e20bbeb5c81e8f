/// The store by which a version becomes visible: of a transaction that commits, and of one that was undone, which leaves an empty
/// version.
struct CommitPoint {
  let state: WriterState

  /// Publishes the next version: the linearization point and crash-atomic point of every change. If the writer dies
  /// before the store of `committed`, recovery undoes the transaction. If it dies after it, recovery finishes the
  /// transaction.
  ///
  /// PAIR pend-committed. Other end: Segment.announce. Release: a reader that sees this version sees every store of
  /// the transaction (I1, I4).
  /// - Parameter next: one more than `committed`.
  @inline(__always)
  func publish(_ next: UInt64, keyCount: UInt64) {
    // PAIR key-count. Other end: Segment.keyCount. Before the version whose count it is.
    state.data.storeRelaxed(WriterState.keyCountWord(next), keyCount)
    state.data.storeRelease(DataLayout.committed, next)
  }

  /// As ``publish(_:keyCount:)``, for a version that changes no key.
  func publishTick() {
    let committed = state.committed
    publish(committed &+ 1, keyCount: state.data.loadRelaxed(WriterState.keyCountWord(committed)))
  }
}
