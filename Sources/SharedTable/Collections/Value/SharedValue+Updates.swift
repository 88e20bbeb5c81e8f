extension SharedValue {
  /// The value, now and whenever it has become another; an absent or expired one is the default.
  ///
  /// ```swift
  /// let limit = try SharedValue("limit", in: table, default: 100)
  /// for try await limit in limit.updates { apply(limit) }
  /// ```
  /// It begins with the present value, and then yields the newest one, whichever process set it: a slow reader misses values in
  /// between, and never the last one. Setting the same value again counts. It suspends, ends and throws as
  /// ``Table/updates(forKey:as:)`` does.
  public var updates: ValueUpdates<Value> {
    ValueUpdates(stored: table.updates(forKey: name), defaultValue: defaultValue)
  }

  /// Waits until `predicate` is true of the value, and returns that; an absent or expired one is the default.
  ///
  /// Looks at once, then after each commit, and when the value expires; a value that lasts shorter than until the next look may
  /// be missed. Blocks the calling thread; `predicate` runs on it, outside of any section.
  /// - Parameters:
  ///   - timeout: for all of it; nil = the table's.
  ///   - predicate: says whether the value is what one waits for.
  /// - Throws: what `predicate` throws; `timedOut`, and all else that `Table.waitUntil` throws.
  @available(*, noasync, message: "blocks the thread; use the form that is awaited")
  @discardableResult
  public func waitUntil(timeout: Duration? = nil, _ predicate: (Value) throws -> Bool) throws -> Value {
    try table.waitUntil(name, as: Value.self, timeout: timeout) { try predicate($0 ?? defaultValue) } ?? defaultValue
  }

  /// Waits until `predicate` is true of the value, and returns that; an absent or expired one is the default. Suspends the task, and blocks
  /// no thread.
  /// - Throws: also `CancellationError`, promptly, when the task is cancelled.
  @discardableResult
  public func waitUntil(
    timeout: Duration? = nil, isolation: isolated (any Actor)? = #isolation, _ predicate: (Value) throws -> Bool
  ) async throws -> Value {
    try await table.waitUntil(name, as: Value.self, timeout: timeout, isolation: isolation) {
      try predicate($0 ?? defaultValue)
    } ?? defaultValue
  }
}
