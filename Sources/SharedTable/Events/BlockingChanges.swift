/// A table's changes for a thread that may block: what ``Table/changes(after:prefix:durableOnly:)`` is for asynchronous code.
package struct BlockingChanges {
  private var feed: ChangeFeed

  /// - Parameter version: everything committed after it; nil = after this call.
  package init(_ table: Table, after version: UInt64?, prefix: [UInt8]) {
    feed = ChangeFeed(table, after: version, .prefix(prefix))
  }

  package init(_ table: Table, after version: UInt64?, forKey key: [UInt8]) {
    feed = ChangeFeed(table, after: version, .key(key))
  }

  /// The next change.
  /// - Returns: nil if there was none in time.
  /// - Throws: what the asynchronous sequence throws.
  package mutating func next(timeout: Duration) throws(TableError) -> TableChange? {
    let deadline = Deadline(timeout)
    while true {
      switch try feed.step() {
      case .change(let change): return change
      case .again: continue
      case .wait(.commit(let version)):
        guard try feed.table.waitForCommit(after: version, timeout: deadline.left) else { return nil }
      case .wait(.disk(let version)):
        guard try feed.table.isDurable(version, within: deadline.left) else { return nil }
      }
    }
  }
}
