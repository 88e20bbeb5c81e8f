/// Changes from asynchronous code: what the blocking forms of the same names do. They run at once on the task's thread if
/// nothing is in their way; else the task suspends. A closure that finds no room (`full`) is undone and run again.
extension SharedValue {
  /// Replaces the value, whatever it is by now.
  nonisolated(nonsending) public func set(_ value: Value, timeout: Duration? = nil) async throws {
    let done: Void? = try table.withoutWaiting { timeout throws(TableError) in try set(value, timeout: timeout) }
    if done == nil { try await awaitBarrier(timeout) { tx in try set(value, in: &tx) } }
  }

  /// Forgets the value: from then on it is the default.
  /// - Returns: whether one was stored.
  @discardableResult
  nonisolated(nonsending) public func remove(timeout: Duration? = nil) async throws -> Bool {
    try await awaitBarrier(timeout) { tx in try remove(in: &tx) }
  }

  /// Changes the value in place, in one barrier. If `body` throws, the value stays.
  /// - Returns: what `body` returns.
  @discardableResult
  nonisolated(nonsending) public func mutate<R: Sendable>(
    timeout: Duration? = nil, _ body: @Sendable (inout Value) throws -> R
  ) async throws -> R {
    try await awaitBarrier(timeout) { tx in try mutate(in: &tx, body) }
  }

  /// Replaces the value and returns the one before, in one barrier.
  @discardableResult
  nonisolated(nonsending) public func exchange(_ value: Value, timeout: Duration? = nil) async throws -> Value {
    try await awaitBarrier(timeout) { tx in try exchange(value, in: &tx) }
  }

  /// Replaces the value if it equals `expected`, in one barrier.
  /// - Returns: whether it did, and the value that was found.
  @discardableResult
  nonisolated(nonsending) public func compareExchange(
    expected: Value, desired: Value, timeout: Duration? = nil
  ) async throws -> (exchanged: Bool, original: Value) where Value: Equatable {
    try await awaitBarrier(timeout) { tx in try compareExchange(expected: expected, desired: desired, in: &tx) }
  }

  /// Awaits a barrier that runs as ``withBarrier(_:_:)`` does.
  nonisolated(nonsending) func awaitBarrier<R: Sendable>(
    _ timeout: Duration? = nil, _ body: @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    try await table.awaitBarrier(timeout, reach: OwnedReach(name), body)
  }
}

/// Numbers.
extension SharedValue where Value: FixedWidthInteger {
  /// Adds to the value in one barrier and returns the sum.
  /// - Throws: `invalid` if the sum does not fit; the value stays then.
  @discardableResult
  nonisolated(nonsending) public func increment(by amount: Value = 1, timeout: Duration? = nil) async throws -> Value {
    let sum = try table.withoutWaiting { timeout throws(TableError) in try increment(by: amount, timeout: timeout) }
    if let sum { return sum }
    return try await awaitBarrier(timeout) { tx in try increment(by: amount, in: &tx) }
  }

  /// Adds in one barrier: `try await $hits += 1`.
  nonisolated(nonsending) public static func += (value: Self, amount: Value) async throws {
    try await value.increment(by: amount)
  }

  /// Subtracts in one barrier.
  nonisolated(nonsending) public static func -= (value: Self, amount: Value) async throws {
    try await value.awaitBarrier { tx in try value.decrement(by: amount, in: &tx) }
  }
}

extension SharedValue where Value: FloatingPoint {
  /// Adds in one barrier.
  nonisolated(nonsending) public static func += (value: Self, amount: Value) async throws {
    try await value.awaitBarrier { tx in try value.compute(in: &tx) { $0 + amount } }
  }

  /// Subtracts in one barrier.
  nonisolated(nonsending) public static func -= (value: Self, amount: Value) async throws {
    try await value.awaitBarrier { tx in try value.compute(in: &tx) { $0 - amount } }
  }
}

extension SharedValue where Value: RangeReplaceableCollection {
  /// Appends in one barrier.
  nonisolated(nonsending) public static func += (value: Self, tail: some Sequence<Value.Element>) async throws {
    // A sequence may end with its first pass, and the barrier may be tried again.
    let tail = Value(tail)
    try await value.awaitBarrier { tx in try value.compute(in: &tx) { $0 + tail } }
  }
}
