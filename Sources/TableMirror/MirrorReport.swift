public import SharedTable

/// How a mirror stands, and what it has done since it began.
public struct MirrorReport: Sendable, Equatable {
  public var state = UpstreamStatus.State.away
  /// Why it does not follow; empty while it does.
  public var problem = ""
  /// What the table says of itself; nil before it was looked at. Of its state and problem it may say what was so earlier.
  public var status: UpstreamStatus?
  /// How often it began to follow.
  public var sessions: UInt64 = 0
  /// How often the whole prefix was read.
  public var reads: UInt64 = 0
  /// Revisions that changed the table, each in a barrier.
  public var revisions: UInt64 = 0
  /// Keys that those changed.
  public var changes: UInt64 = 0

  /// The revision that the table is; 0: none yet.
  public var revision: Int64 { status?.revision ?? 0 }
}
