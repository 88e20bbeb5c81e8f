/// A place in a barrier that it can be rolled back to.
public enum BarrierSavepoint: Sendable {
  case journaled(JournalSavepoint)
  /// Of a barrier of some keys: how much it had changed.
  case buffered(Int)
}
