extension SharedDictionary {
  /// The value of a key, now and whenever it has become another; nil stands for an absent or expired one.
  ///
  /// ```swift
  /// for try await age in ages.updates(forKey: "ann") { print(age ?? 0) }
  /// ```
  /// It begins with the present value, and then yields the newest one, whichever process stored or removed it: a slow reader
  /// misses values in between, and never the last one. It suspends, ends and throws as ``Table/updates(forKey:as:)`` does.
  public func updates(forKey key: Key) -> TableUpdates<Value> {
    store.withKey(key) { key in table.updates(forKey: key) }
  }

  /// Waits until `predicate` is true of a key's value, and returns that; nil stands for an absent or expired one.
  ///
  /// Looks at once, then after each commit, and when the value expires; a value that lasts shorter than until the next look may
  /// be missed. Blocks the calling thread; `predicate` runs on it, outside of any section.
  /// - Parameters:
  ///   - key: the element's.
  ///   - timeout: for all of it; nil = the table's.
  ///   - predicate: says whether the value is what one waits for.
  /// - Throws: what `predicate` throws; `timedOut`, and all else that `Table.waitUntil` throws.
  @available(*, noasync, message: "blocks the thread; use the form that is awaited")
  @discardableResult
  public func waitUntil(
    _ key: Key, timeout: Duration? = nil, _ predicate: (Value?) throws -> Bool
  ) throws -> Value? {
    try store.withKey(key) { key in
      try table.waitUntil(key, as: Value.self, timeout: timeout, predicate)
    }
  }

  /// Waits until `predicate` is true of a key's value, and returns that; nil stands for an absent or expired one. Suspends the task, and
  /// blocks no thread.
  /// - Throws: also `CancellationError`, promptly, when the task is cancelled.
  @discardableResult
  public func waitUntil(
    _ key: Key, timeout: Duration? = nil, isolation: isolated (any Actor)? = #isolation,
    _ predicate: (Value?) throws -> Bool
  ) async throws -> Value? {
    let key = store.withKey(key) { key in unsafe key.withKeyBytes { unsafe [UInt8]($0) } }
    return try await table.waitUntil(key, as: Value.self, timeout: timeout, isolation: isolation, predicate)
  }

  /// The present value of a key, and what comes after it. Waits as a read does.
  package func valueAndUpdates(
    forKey key: Key
  ) throws(TableError) -> (value: Value?, updates: TableUpdates<Value>) {
    try store.withKey(key) { key throws(TableError) in try table.valueAndUpdates(forKey: key) }
  }
}
