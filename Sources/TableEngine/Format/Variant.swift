/// How readers and writers of a table are kept apart. Chosen by the creator, stored in both headers.
public enum Variant: UInt32, Sendable, CaseIterable {
  /// Readers never wait: versions, snapshots and deferred reclamation (RCU).
  case rcu = 1
  /// Readers and the barrier exclude each other; memory is reused at once.
  case rwlock = 2
}
