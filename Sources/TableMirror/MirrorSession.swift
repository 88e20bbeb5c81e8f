public import UpstreamWrites

/// A connection to one process of the store. All calls but `commit` throw ``MirrorFailure``, or `CancellationError`.
///
/// A commit's keys are the table's: the prefix is the session's to put before them.
public protocol MirrorSession: UpstreamSession {
  /// Whom it talks to, for people.
  var peer: String { get }

  /// Where the store is: no change that was acknowledged to anybody before the call is newer.
  func position() async throws -> SourcePosition

  /// The keys of the prefix in their order, `limit` of them at most, added to the page.
  /// - Parameters:
  ///   - key: only those above it; nil: from the first on.
  ///   - revision: as they are at it; 0: at the newest.
  /// - Returns: where the store was, and whether there are more keys.
  /// - Throws: `compacted` if the revision is gone.
  func read(
    into page: ContentPage, after key: [UInt8]?, at revision: Int64, limit: Int
  ) async throws -> (position: SourcePosition, hasMore: Bool)

  /// Asks for all events from a revision on and hands them out until it throws.
  func watch(from revision: Int64, _ receive: @Sendable (WatchAnswer) async throws -> Void) async throws

  func timeLeft(ofLease lease: Int64) async throws -> LeaseTTL

  /// Asks for an answer on the stream of events that says how far it is (``WatchAnswer``, without events). Nothing if nobody watches.
  func requestProgress() async
}
