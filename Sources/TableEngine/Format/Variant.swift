/// How readers and writers of a table are kept apart. Chosen by the creator, stored in both headers.
public enum Variant: UInt32, Sendable, CaseIterable, LosslessStringConvertible {
  /// Readers never wait: versions, snapshots and deferred reclamation (RCU).
  case rcu = 1
  /// Readers and the barrier exclude each other; memory is reused at once.
  case rwlock = 2

  /// As configurations, commands and reports spell it.
  public var description: String {
    switch self {
    case .rcu: "rcu"
    case .rwlock: "rwlock"
    }
  }

  public init?(_ description: String) {
    guard let found = Self.allCases.first(where: { $0.description == description }) else { return nil }
    self = found
  }
}
