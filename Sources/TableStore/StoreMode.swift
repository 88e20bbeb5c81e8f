/// When a table's changes go to the disk.
public enum StoreMode: Sendable, Equatable {
  /// At once: as soon as a barrier is committed, with those that were committed meanwhile.
  case everyBarrier
  /// So long after the time before, all that changed since.
  case relaxed(Duration)

  /// For how long a change may be in memory alone; and as long as the disk takes.
  var interval: Duration {
    switch self {
    case .everyBarrier: .zero
    case .relaxed(let interval): interval
    }
  }
}
