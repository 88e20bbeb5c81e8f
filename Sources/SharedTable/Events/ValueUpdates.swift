/// A shared value, now and whenever it has become another; see ``SharedValue/updates``.
public struct ValueUpdates<Value: TableValue>: AsyncSequence, Sendable {
  /// The value; the default if it is absent or expired.
  public typealias Element = Value
  /// What a sequence may end with.
  public typealias Failure = TableError

  let stored: TableUpdates<Value>
  let defaultValue: Value

  /// Begins with the value as of the first `next`; each iterator reads for itself.
  public func makeAsyncIterator() -> Iterator {
    Iterator(stored: stored.makeAsyncIterator(), defaultValue: defaultValue)
  }

  /// An iterator, for one task at a time. Dropping it frees all that it has.
  public struct Iterator: AsyncIteratorProtocol {
    var stored: TableUpdates<Value>.Iterator
    let defaultValue: Value

    /// The next value. Suspends until there is one; nil once the task is cancelled.
    public mutating func next() async throws(TableError) -> Value? { try await next(isolation: nil) }

    /// The next value; nil once the task was cancelled, and after an error. Suspends until there is one.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(TableError) -> Value? {
      guard let value = try await stored.next(isolation: actor) else { return nil }
      return value ?? defaultValue
    }
  }
}
