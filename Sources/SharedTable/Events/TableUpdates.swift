import TableEngine

extension Table {
  /// The value of a key, now and whenever it has become another; nil stands for an absent or expired one.
  ///
  /// ```swift
  /// for try await name in table.updates(forKey: "user.name", as: String.self) {
  ///   print(name ?? "nobody")
  /// }
  /// ```
  /// It begins with the present value. After that it yields the newest one, whoever stored or removed it, in whatever process,
  /// and nil when the value expires. It tells of a state, not of events: whoever reads slowly misses values in between, and
  /// never the last one. So a slow reader holds up nobody, and nothing is kept for it. For each single change there is
  /// ``changes(after:forKey:durableOnly:)``.
  ///
  /// Another value is one that another barrier stored, be it the same bytes; a barrier that was undone stored nothing. An absent
  /// value that stays absent is not told again, nor is a change of another key. A value that is not told is not copied.
  ///
  /// Waiting suspends and blocks no thread. Where a `get` would wait for a barrier (rwlock variant), it looks again when that is
  /// over. What is yielded is a copy, and valid for ever. Each iterator reads by itself.
  ///
  /// The sequence ends, promptly, when its task is cancelled. It throws `unlinked` within half a second after the table was
  /// dropped, once the last value was told; `typeMismatch` if the value is of another type or layout; `forked` in a child of the
  /// process that opened the table; what a `get` throws. In a ``HostActor`` over the same table each `next` ends the job.
  /// - Parameters:
  ///   - key: 1 to 65,536 bytes; for others the sequence throws `invalid` or `tooLarge`.
  ///   - type: of the value.
  public func updates<Value: TableValue>(
    forKey key: some TableKey, as type: Value.Type = Value.self
  ) -> TableUpdates<Value> {
    TableUpdates(table: self, key: unsafe key.withKeyBytes { unsafe [UInt8]($0) })
  }

  /// The present value, and what comes after it. Waits as a `get` does.
  package func valueAndUpdates<Value: TableValue>(
    forKey key: some TableKey, as type: Value.Type = Value.self
  ) throws(TableError) -> (value: Value?, updates: TableUpdates<Value>) {
    let key = unsafe key.withKeyBytes { unsafe [UInt8]($0) }
    let look = try look(key, as: type, timeoutNanoseconds: nanoseconds(nil))
    return (look.value, TableUpdates(table: self, key: key, told: look.version))
  }
}

/// A key's value, now and whenever it has become another; see ``Table/updates(forKey:as:)``.
public struct TableUpdates<Value: TableValue>: AsyncSequence, Sendable {
  /// The value; nil if it is absent or expired.
  public typealias Element = Value?
  /// What a sequence may end with.
  public typealias Failure = TableError

  let table: Table
  let key: [UInt8]
  /// The version of the value that is known already, and is not told; nil if none is.
  var told: UInt64?

  /// Begins with the value as of the first `next`; each iterator reads for itself.
  public func makeAsyncIterator() -> Iterator { Iterator(table: table, key: key, told: told) }

  /// An iterator, for one task at a time. Dropping it frees all that it has.
  public struct Iterator: AsyncIteratorProtocol {
    private let table: Table
    private let key: [UInt8]
    /// The version of what was told last; nil before anything was.
    private var told: UInt64?
    private var watch: Watch?
    private var hasEnded = false

    init(table: Table, key: [UInt8], told: UInt64?) {
      self.table = table
      self.key = key
      self.told = told
    }

    /// The next value. Suspends until there is one; nil once the task is cancelled.
    public mutating func next() async throws(TableError) -> Value?? { try await next(isolation: nil) }

    /// The next value; nil once the task was cancelled, and after an error. Suspends until there is one.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(TableError) -> Value?? {
      guard !hasEnded else { return nil }
      // Unless there is a value.
      hasEnded = true
      var news: VersionedValue<Value>?
      do throws(TableError) {
        // Each job of a host actor that looked again would be one more commit to look after.
        let isolation = table.isCommitted(byJobsOf: actor) ? nil : actor
        news = try await table.news(of: key, besides: told, &watch, isolation: isolation)
      } catch {
        // In a job of a host actor, whose barrier keeps this thread from looking. It ends as the task leaves the actor.
        guard error.code == .wouldDeadlock, actor != nil else { throw error }
        news = try await table.news(of: key, besides: told, &watch, isolation: nil)
      }
      guard let news else { return nil }
      told = news.version
      hasEnded = false
      return .some(news.value)
    }
  }
}

extension Table {
  /// Suspends until a look finds another version than the one told.
  /// - Returns: nil if the task was cancelled.
  fileprivate func news<Value: TableValue>(
    of key: [UInt8], besides told: UInt64?, _ watch: inout Watch?, isolation actor: isolated (any Actor)?
  ) async throws(TableError) -> VersionedValue<Value>? {
    while !Task.isCancelled {
      let version = segment.committed
      let look = try lookAtOnce(key, as: Value.self, unless: told)
      if let look, look.version != told { return look }
      try Watch.ensureOwn(&watch, of: self)
      try await watch!.waitForNews(after: version, look, deadline: .never, isolation: actor)
    }
    return nil
  }
}
