/// A connection to a store, over which changes are asked for.
public protocol UpstreamSession: Sendable {
  /// Asks for changes. Returns when the store has decided; the table shows them later.
  /// - Parameter timeout: no answer within it is `unsure`.
  func commit(_ commit: UpstreamCommit, timeout: Duration) async throws(UpstreamRefusal) -> UpstreamCommit.Outcome
}
