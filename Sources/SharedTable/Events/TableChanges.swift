import TableEngine

extension Table {
  /// The changes of all keys that begin with `prefix`, as they are committed, by whatever process.
  ///
  /// In the order of commits, and within one barrier of its operations; without gaps: what the log lost before it was
  /// read comes as ``TableChange/missed(_:)``. The log itself is the buffer: a slow reader holds up nobody, and has as
  /// long as the log lasts (1/64 of the capacity, at least 256 KiB). Each iterator reads by itself. Waiting blocks no thread
  /// but the one that watches all tables of the process.
  ///
  /// ```swift
  /// for try await change in table.changes(prefix: "user.") { … }
  /// ```
  /// A sequence from a version continues where another ended, in this process or the next: take the version before a
  /// look at the table, or of the last change of which nothing more can come (one of a later version has).
  ///
  /// The sequence ends when its task is cancelled. It throws `unlinked` within half a second after the table was
  /// dropped, `damaged` if the log contradicts itself, `forked` in a child of the process that opened the table, `invalid`
  /// for a version that the table has not reached, `busy` if the log is overwritten faster than it can be read, `system` if the thread
  /// that watches cannot be started; if `durableOnly`, also `notDurable` if no store keeps the table, or the store
  /// has failed. In a ``HostActor`` over the same table a `next` that has to wait ends the job.
  /// - Parameters:
  ///   - version: everything committed after it; nil = after this call.
  ///   - prefix: what the keys begin with; empty: all keys.
  ///   - durableOnly: a change is told once it is on the disk (``durableVersion``), so that no power cut takes away what was told.
  ///     Meanwhile the log goes on: of a store that is slow to follow more may be missed.
  public func changes(
    after version: UInt64? = nil, prefix: some TableKey = "", durableOnly: Bool = false
  ) -> TableChanges {
    let bytes = unsafe prefix.withKeyBytes { unsafe [UInt8]($0) }
    return TableChanges(feed: ChangeFeed(self, after: version, .prefix(bytes), durableOnly: durableOnly))
  }

  /// The changes of one key, of 1 to 65,536 bytes: for others the sequence throws `invalid` or `tooLarge`. Else as
  /// ``changes(after:prefix:durableOnly:)``.
  public func changes(
    after version: UInt64? = nil, forKey key: some TableKey, durableOnly: Bool = false
  ) -> TableChanges {
    let bytes = unsafe key.withKeyBytes { unsafe [UInt8]($0) }
    return TableChanges(feed: ChangeFeed(self, after: version, .key(bytes), durableOnly: durableOnly))
  }
}

/// A table's changes as they are committed; see ``Table/changes(after:prefix:durableOnly:)``.
public struct TableChanges: AsyncSequence, Sendable {
  /// One change.
  public typealias Element = TableChange
  /// What a sequence may end with.
  public typealias Failure = TableError

  let feed: ChangeFeed

  /// Begins where the sequence says; each iterator reads for itself.
  public func makeAsyncIterator() -> Iterator { Iterator(feed: feed) }

  /// An iterator, for one task at a time. Dropping it frees all that it has.
  public struct Iterator: AsyncIteratorProtocol {
    private var feed: ChangeFeed
    private var watch: Watch?

    init(feed: ChangeFeed) { self.feed = feed }

    /// The next change. Suspends until there is one; nil once the task is cancelled.
    public mutating func next() async throws(TableError) -> TableChange? { try await next(isolation: nil) }

    /// The next change; nil when the task was cancelled. Suspends until there is one.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(TableError) -> TableChange? {
      try await feed.next(&watch, isolation: actor)
    }
  }
}

extension ChangeFeed {
  /// - Returns: nil if the task was cancelled.
  fileprivate mutating func next(
    _ watch: inout Watch?, isolation actor: isolated (any Actor)?
  ) async throws(TableError) -> TableChange? {
    while !Task.isCancelled {
      switch try step() {
      case .change(let change):
        return change
      case .again:
        await Task.yield()
      case .wait(let goal):
        try Watch.ensureOwn(&watch, of: table)
        // Each job that looked again would be one more commit to look after. So the task leaves the actor, and comes back with a change.
        if table.isCommitted(byJobsOf: actor) { return try await next(&watch, isolation: nil) }
        try await watch!.wait(for: goal, isolation: actor)
      }
    }
    return nil
  }
}
