import Synchronization

/// What the daemon has done since it started.
final class DaemonCounters: Sendable {
  struct Values: Sendable, Equatable {
    /// Rounds of care for all tables.
    var rounds: UInt64 = 0
    var expiredKeys: UInt64 = 0
    /// How often the daemon noticed that a dead writer's work had been undone or finished, by whomever.
    var recoveries: UInt64 = 0
    var deadParticipants: UInt64 = 0
    var reloads: UInt64 = 0
    var refusedReloads: UInt64 = 0
  }

  private let state = Mutex(Values())

  var values: Values { state.withLock { $0 } }

  func count(_ counter: WritableKeyPath<Values, UInt64> & Sendable, _ more: UInt64 = 1) {
    state.withLock { $0[keyPath: counter] &+= more }
  }
}
