extension SharedCounter {
  /// The count, now and whenever it has become another: see ``SharedValue/updates``.
  ///
  /// ```swift
  /// for try await count in try SharedCounter("visits", in: table).updates { show(count) }
  /// ```
  public var updates: ValueUpdates<Int> { number.updates }

  /// Waits until `predicate` is true of the count, and returns that. Blocks the calling thread.
  /// - Parameters:
  ///   - timeout: for all of it; nil = the table's.
  ///   - predicate: says whether the count is what one waits for.
  /// - Throws: what `predicate` throws; `timedOut`, and all else that `Table.waitUntil` throws.
  @available(*, noasync, message: "blocks the thread; use the form that is awaited")
  @discardableResult
  public func waitUntil(timeout: Duration? = nil, _ predicate: (Int) throws -> Bool) throws -> Int {
    try number.waitUntil(timeout: timeout, predicate)
  }

  /// Waits until `predicate` is true of the count, and returns that. Suspends the task, and blocks no thread.
  /// - Throws: also `CancellationError`, promptly, when the task is cancelled.
  @discardableResult
  public func waitUntil(
    timeout: Duration? = nil, isolation: isolated (any Actor)? = #isolation, _ predicate: (Int) throws -> Bool
  ) async throws -> Int {
    try await number.waitUntil(timeout: timeout, isolation: isolation, predicate)
  }
}
