import Synchronization

/// What the daemon has done since it started.
final class DaemonCounters: Sendable {
  struct Values: Sendable, Equatable {
    /// Looks after all tables.
    var turns: UInt64 = 0
    var expiredKeys: UInt64 = 0
    /// Tables' repairs after a dead writer, by whomever, that the daemon noticed.
    var repairs: UInt64 = 0
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
