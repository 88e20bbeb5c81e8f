/// Changes from asynchronous code: what the blocking forms of the same names do. They run at once on the task's thread if
/// nothing is in their way; else the task suspends. A closure that finds no room (`full`) is undone and run again.
extension SharedDictionary {
  /// Stores a value.
  /// - Returns: whether the condition held and the value was stored.
  @discardableResult
  @inlinable
  nonisolated(nonsending) public func set(
    _ key: Key, _ value: Value, if condition: Table.Condition = .always, timeout: Duration? = nil
  ) async throws -> Bool {
    let result = try table.withoutWaiting { timeout throws(TableError) in
      try set(key, value, if: condition, timeout: timeout)
    }
    if let result { return result }
    return try await store.place.awaitBarrier(timeout) { tx in try set(key, value, if: condition, in: &tx) }
  }

  /// Stores a value and returns the one before; nil if there was none.
  @discardableResult
  nonisolated(nonsending) public func updateValue(
    _ value: Value, forKey key: Key, timeout: Duration? = nil
  ) async throws -> Value? {
    try await store.place.awaitBarrier(timeout) { tx in try updateValue(value, forKey: key, in: &tx) }
  }

  /// Removes a key and returns its value; nil if there was none.
  @discardableResult
  nonisolated(nonsending) public func removeValue(forKey key: Key, timeout: Duration? = nil) async throws -> Value? {
    try await store.place.awaitBarrier(timeout) { tx in try removeValue(forKey: key, in: &tx) }
  }

  /// Removes some keys in one barrier.
  /// - Returns: how many were there.
  @discardableResult
  nonisolated(nonsending) public func remove(_ keys: some Sequence<Key>, timeout: Duration? = nil) async throws -> Int {
    let keys = Array(keys)
    return try await store.place.awaitBarrier(timeout) { tx in try store.remove(keys, in: &tx) }
  }

  /// Changes a value in place, in one barrier; an absent one begins as `defaultValue`. If `body` throws, nothing changes.
  @discardableResult
  nonisolated(nonsending) public func mutate<R: Sendable>(
    _ key: Key, default defaultValue: @autoclosure @Sendable () -> Value, timeout: Duration? = nil,
    _ body: @Sendable (inout Value) throws -> R
  ) async throws -> R {
    try await store.place.awaitBarrier(timeout) { tx in
      try mutate(key, default: defaultValue(), in: &tx, body)
    }
  }

  /// Changes a value in place, in one barrier: nil is an absent one, and setting nil removes it.
  @discardableResult
  nonisolated(nonsending) public func mutate<R: Sendable>(
    _ key: Key, timeout: Duration? = nil, _ body: @Sendable (inout Value?) throws -> R
  ) async throws -> R {
    try await store.place.awaitBarrier(timeout) { tx in try mutate(key, in: &tx, body) }
  }

  /// Stores many elements in one barrier: all of them, or none.
  /// - Parameters:
  ///   - combine: makes one value of the old and the new one where the key is there; without it the new one stays.
  ///   - elements: what to put in.
  ///   - timeout: for the wait; nil = the table's.
  nonisolated(nonsending) public func merge(
    _ elements: some Sequence<(Key, Value)>, timeout: Duration? = nil,
    uniquingKeysWith combine: (@Sendable (_ current: Value, _ new: Value) throws -> Value)? = nil
  ) async throws {
    let elements = Array(elements)
    try await store.place.awaitBarrier(timeout) { tx in
      try merge(elements, in: &tx, uniquingKeysWith: combine)
    }
  }

  /// Stores a Swift dictionary's elements in one barrier.
  nonisolated(nonsending) public func merge(
    _ elements: [Key: Value], timeout: Duration? = nil,
    uniquingKeysWith combine: (@Sendable (_ current: Value, _ new: Value) throws -> Value)? = nil
  ) async throws {
    try await merge(elements.lazy.map { ($0.key, $0.value) }, timeout: timeout, uniquingKeysWith: combine)
  }

  /// Removes all elements in one barrier, and the dictionary's type: the name is free.
  nonisolated(nonsending) public func removeAll(timeout: Duration? = nil) async throws {
    try await store.place.awaitBarrier(timeout) { tx in try removeAll(in: &tx) }
  }

  /// Removes the elements for which `predicate` holds, in one barrier; if it throws, none.
  /// - Returns: how many they were.
  @discardableResult
  nonisolated(nonsending) public func removeAll(
    timeout: Duration? = nil, where predicate: @Sendable (Key, Value) throws -> Bool
  ) async throws -> Int {
    try await store.place.awaitBarrier(timeout) { tx in try removeAll(in: &tx, where: predicate) }
  }
}
