/// Says of a section that it is a barrier, and what it waits for.
public enum BarrierFlags: Sendable {
  /// A barrier.
  case barrier
  /// A barrier that returns, or ends, only when no read section on the whole host is left that began before it committed:
  /// see ``Table/barrier(waitingForReaders:timeout:_:)``.
  case barrierWaitingForReaders
}
