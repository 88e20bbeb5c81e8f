/// A way through a table's change log for a program without tasks: reads on with ``next()``, and never waits. Whoever wants to
/// wait does it by ``Table/waitForCommit(after:timeout:)``.
///
/// ```swift
/// var scan = ChangeScan(of: table)
/// while true {
///   while let change = try scan.next() { … }
///   _ = try table.waitForCommit(after: scan.version)
/// }
/// ```
public struct ChangeScan: Sendable {
  private var feed: ChangeFeed
  /// The version up to which everything was told when ``next()`` returned nil.
  public private(set) var version: UInt64

  /// A scan of the changes of keys that begin with `prefix`.
  ///
  /// - Parameters:
  ///   - table: whose changes.
  ///   - version: everything committed after it; nil = after this call; 0 = all that the log still has, behind a
  ///     ``TableChange/missed(_:)`` if it lost something.
  ///   - prefix: what the keys begin with; empty: all keys.
  ///   - durableOnly: a change is told once it is on the disk. Wait for the next by `waitForCommit(after: scan.version)`, and then by
  ///     `waitUntilDurable(scan.version + 1)`: alone, that one throws `notDurable` if nobody commits before its timeout.
  public init(
    of table: Table, after version: UInt64? = nil, prefix: some TableKey = "", durableOnly: Bool = false
  ) {
    let bytes = unsafe prefix.withKeyBytes { unsafe [UInt8]($0) }
    feed = ChangeFeed(table, after: version, .prefix(bytes), durableOnly: durableOnly)
    self.version = version ?? feed.version
  }

  /// The next change; nil if there is none yet. Looks through what was committed before the call, and no further for want of a change, however
  /// fast others write.
  /// - Throws: `unlinked`, `damaged`, `forked`, `invalid` for a version that the table has not reached; of durable changes also
  ///   `notDurable` if no store keeps the table, or the store has failed.
  public mutating func next() throws(TableError) -> TableChange? {
    switch try feed.next(upTo: feed.table.version) {
    case .change(let change): return change
    case .again: version = feed.version
    case .wait(.commit(let version)): self.version = version
    case .wait(.disk(let version)): self.version = version - 1
    }
    return nil
  }
}
