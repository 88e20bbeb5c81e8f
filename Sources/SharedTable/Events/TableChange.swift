/// What happened to a key, or to the news of it.
public enum TableChange: Sendable, Equatable {
  /// A value was stored under the key; not which. In a barrier that stores it twice, twice.
  case set([UInt8], version: UInt64)
  /// The key was removed: by a barrier, or by a sweep that removes what has expired. Expiry by itself is no change.
  case removed([UInt8], version: UInt64)
  /// So many changes, of whatever keys, were overwritten in the log before they were read: look at the table anew.
  ///
  /// For who fell behind the number is exact, but for changes of undone barriers. Where the log does not reach back to
  /// the version that was asked for, it is an upper bound: all that the log ever lost.
  ///
  /// Who asked for the changes of one key or of a prefix is told if one of those may be among them. The table remembers of which keys
  /// changes were overwritten, by hashes of their first 3 and 7 bytes: so a loss that concerns only others is told where their keys
  /// begin alike for so long, where hashes meet, or where the prefix has fewer than 3 bytes. One key that is there, with a value
  /// older than the loss, is never told.
  case missed(UInt64)

  /// The key's bytes; nil if changes were missed.
  public var key: [UInt8]? {
    switch self {
    case .set(let key, _), .removed(let key, _): key
    case .missed: nil
    }
  }

  /// The key as text; nil if it is not UTF-8, or if changes were missed.
  public var keyText: String? { key.flatMap { String(validating: $0, as: UTF8.self) } }

  /// The version of the barrier that made the change; nil if changes were missed. Whoever has seen all changes of one
  /// version goes on from it: `changes(after: version)`.
  public var version: UInt64? {
    switch self {
    case .set(_, let version), .removed(_, let version): version
    case .missed: nil
    }
  }
}
