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
  ///
  /// Whatever the timeout, it looks through what was committed before the call.
  /// - Returns: nil if there was none in time.
  /// - Throws: what the asynchronous sequence throws.
  package mutating func next(timeout: Duration) throws(TableError) -> TableChange? {
    let deadline = Deadline(timeout)
    let newest = feed.table.version
    while true {
      switch try feed.next(upTo: newest) {
      case .change(let change): return change
      case .again:
        if deadline.isPast { return nil }
      case .wait(let goal):
        // Before the wait, which returns at once where a commit has come: changes of other keys that come one after the other would keep
        // the thread here for ever.
        guard !deadline.isPast, try wait(for: goal, deadline) else { return nil }
      }
    }
  }

  /// - Returns: false if it was not reached in time.
  private func wait(for goal: Watch.Goal, _ deadline: Deadline) throws(TableError) -> Bool {
    switch goal {
    case .commit(let version): try feed.table.waitForCommit(after: version, timeout: deadline.left)
    case .disk(let version): try feed.table.isDurable(version, within: deadline.left)
    }
  }
}
