/// Where the other store is: in which history, and how far in it.
public struct SourcePosition: Sendable, Equatable {
  /// Names the store.
  public var cluster: UInt64
  /// Grows by one with each change of anything in the store.
  public var revision: Int64
  /// Grows with each election of a leader.
  public var term: UInt64

  public init(cluster: UInt64, revision: Int64, term: UInt64) {
    self.cluster = cluster
    self.revision = revision
    self.term = term
  }
}
