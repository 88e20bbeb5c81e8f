/// Writes from asynchronous code: what the blocking forms of the same names do. They run at once on the task's thread if nothing is
/// in their way; else the task suspends, and the write happens after those that were submitted before.
extension SharedCache {
  /// Stores a value, and evicts in the same barrier the elements for which there is no room any more; see
  /// ``set(_:_:cost:expires:if:timeout:)``. Suspends where that form blocks.
  /// - Returns: whether the condition held and the value was stored.
  /// - Throws: what that form throws; `CancellationError` if the task was cancelled before the write began: nothing is stored then.
  @discardableResult
  nonisolated(nonsending) public func set(
    _ key: Key, _ value: Value, cost: Int? = nil, expires: Expiration? = nil, if condition: Table.Condition = .always,
    timeout: Duration? = nil
  ) async throws -> Bool {
    let (element, expires) = (element(key), expiration(expires))
    return try await core.awaitWrite(timeout) { core, timeout throws(TableError) in
      try core.store(element, value, cost: cost, expires: expires, if: condition, timeout: timeout)
    }
  }

  /// Removes an element. A process that is just computing it returns the value to its caller and does not store it: the value may
  /// be from before. Suspends where ``remove(_:timeout:)`` blocks.
  /// - Returns: whether it was there and had not expired.
  /// - Throws: what that form throws; `CancellationError` if the task was cancelled before the write began: nothing is removed then.
  @discardableResult
  nonisolated(nonsending) public func remove(_ key: Key, timeout: Duration? = nil) async throws -> Bool {
    let element = element(key)
    return try await core.awaitWrite(timeout) { core, timeout throws(TableError) in
      try unsafe element.withKeyBytes { bytes throws(TableError) in try unsafe core.remove(bytes, timeout: timeout) }
    }
  }

  /// Removes all elements: in one barrier or, if one cannot take so many, in several. A value that is just being computed
  /// is not stored. Suspends where ``removeAll(timeout:)`` blocks.
  /// - Throws: what that form throws; `CancellationError` if the task was cancelled before it began: nothing is removed then.
  nonisolated(nonsending) public func removeAll(timeout: Duration? = nil) async throws {
    // Of several barriers, the second might have to wait after the first has removed elements.
    try await core.awaitWrite(timeout) { core, timeout throws(TableError) in
      try core.removeAllAtOnce(timeout)
    } inTurn: { core, timeout throws(TableError) in
      try core.removeAll(timeout: timeout)
    }
  }

  /// Returns when every write is done that was submitted before and not waited for. Suspends for as long as that takes: it has no
  /// timeout.
  /// - Throws: `forked`; `CancellationError` if the task is cancelled before. The writes go on.
  nonisolated(nonsending) public func flush() async throws { try await core.awaitWritesSuspending() }
}

extension CacheCore {
  nonisolated(nonsending) func awaitWrite<R: Sendable>(
    _ timeout: Duration?, _ write: @escaping @Sendable (CacheCore, Duration?) throws(TableError) -> R
  ) async throws -> R {
    try await awaitWrite(timeout, atOnce: write, inTurn: write)
  }

  /// - Parameters:
  ///   - first: tries the write on the task's thread; gets how long it may wait. If it throws, nothing is stored or removed of what the write is
  ///     about: a task that was cancelled meanwhile is told so.
  ///   - write: as the other one, on a thread of the library's, and to its end.
  nonisolated(nonsending) func awaitWrite<R: Sendable>(
    _ timeout: Duration?, atOnce first: (CacheCore, Duration?) throws(TableError) -> R,
    inTurn write: @escaping @Sendable (CacheCore, Duration?) throws(TableError) -> R
  ) async throws -> R {
    if writesOnTheWay.load(ordering: .acquiring) == 0 {
      let result = try table.withoutWaiting { timeout throws(TableError) in try first(self, timeout) }
      if let result { return result }
    }
    try Task.checkCancellation()
    return try await queue.runJobUnlessCancelled { @Sendable [self] () throws(TableError) in try write(self, timeout) }
  }
}
