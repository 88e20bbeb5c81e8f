/// What one step through the log found, in the order of commits and, within one barrier, of its operations.
public struct ChangeBatch: Sendable {
  /// How many records were overwritten before they could be read; they lay before `changes`.
  ///
  /// Exact for a reader that fell behind, but for records of aborted barriers. Where the log does not reach back to the
  /// version a reader starts from, all that it ever pushed out: an upper bound.
  public var missed: UInt64 = 0
  public var changes: [LoggedChange] = []
  /// The log was read to its end, as of `newest`: next there is something at the earliest after a commit.
  public var isAtEnd = false
  public var newest: UInt64 = 0
}
