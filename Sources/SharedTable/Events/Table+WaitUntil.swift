import SharedMemory
import TableEngine

extension Table {
  /// Waits until `predicate` is true of a key's value, and returns that value; nil stands for an absent or expired one.
  ///
  /// Looks at once, then after each commit, by whatever process, and when the value expires. A value that lasts shorter
  /// than until the next look may be missed: the predicate is about a state, not about events.
  ///
  /// Blocks the calling thread; `predicate` runs on it, outside of any section.
  /// - Parameters:
  ///   - timeout: for all of it; nil = the table's.
  ///   - key: the value's.
  ///   - predicate: says whether the value is what one waits for.
  ///   - type: of the value.
  /// - Throws: what `predicate` throws; `timedOut`; `typeMismatch`; `wouldDeadlock` inside a section of this table on this
  ///   thread; `unlinked` within a tenth of a second after the table was dropped; `forked`; what a `get` throws.
  @available(*, noasync, message: "blocks the thread; use the form that is awaited")
  @discardableResult
  public func waitUntil<T: TableValue>(
    _ key: some TableKey, as type: T.Type = T.self, timeout: Duration? = nil, _ predicate: (T?) throws -> Bool
  ) throws -> T? {
    let deadline = Deadline(nanoseconds(timeout))
    // Says at once that it would wait for its own thread.
    _ = try naming(try segment.waitForCommit(after: 0, timeoutNanoseconds: 0))
    while true {
      let version = segment.committed
      let look = try look(key, as: type, timeoutNanoseconds: deadline.leftNanoseconds)
      if try predicate(look.value) { return look.value }
      guard !deadline.isPast else { throw tooLate(key) }
      _ = try naming(
        try segment.waitForCommit(
          after: version, timeoutNanoseconds: min(deadline.leftNanoseconds, look.lastsNanoseconds)))
    }
  }

  /// Waits until `predicate` is true of a key's value, and returns that value; nil stands for an absent or expired one. Suspends the task, and
  /// blocks no thread.
  ///
  /// Where a `get` would have to wait for a barrier
  /// (rwlock variant), it looks again when that is over.
  /// - Throws: also `CancellationError`, promptly, when the task is cancelled; `system` if no thread can be started that watches the table.
  ///   `wouldDeadlock` in a ``HostActor`` over the same table, where ``updates(forKey:as:)`` serves.
  @discardableResult
  public func waitUntil<T: TableValue>(
    _ key: some TableKey, as type: T.Type = T.self, timeout: Duration? = nil,
    isolation: isolated (any Actor)? = #isolation, _ predicate: (T?) throws -> Bool
  ) async throws -> T? {
    let deadline = Deadline(nanoseconds(timeout))
    var watch: Watch?
    while true {
      try Task.checkCancellation()
      let version = segment.committed
      let look = try lookAtOnce(key, as: type)
      if let look, try predicate(look.value) { return look.value }
      guard !deadline.isPast else {
        // The task never saw the value. It looks once more, by a look that throws: its error names the process whose barrier is in the way.
        if look == nil, case let last = try self.look(key, as: type, timeoutNanoseconds: 0), try predicate(last.value) {
          return last.value
        }
        throw tooLate(key)
      }
      // By a handle that observes a job can look, but each of its looks would be one more commit to look after.
      if isCommitted(byJobsOf: isolation) { throw named(.wouldDeadlock(outer: "barrier")) }
      if watch == nil { watch = try Watch(self) }
      try await watch!.waitForNews(after: version, look, deadline: deadline, isolation: isolation)
    }
  }
}

extension Table {
  private func tooLate(_ key: some TableKey) -> TableError {
    TableError(
      .timedOut, table: name,
      "the value of '\(key.shown)' did not meet the condition; allow more time, or look whether its writer lives")
  }
}
