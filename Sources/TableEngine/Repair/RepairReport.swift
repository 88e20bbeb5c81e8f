/// What a repair found and did.
public struct RepairReport: Sendable {
  /// What was wrong, one sentence each; empty: nothing, and nothing was done.
  public var problems: [String] = []
  /// Each key or place that was given up, at most 10,000.
  public var losses: [String] = []
  /// How many words that led to a key were given up. Those in an unreadable part of the index are not counted.
  public var droppedCount = 0
  /// How many keys the table has after it; in a dry run, would have.
  public var keptCount = 0
  /// False for a dry run, and where there was nothing to do.
  public var isRepaired = false
}
