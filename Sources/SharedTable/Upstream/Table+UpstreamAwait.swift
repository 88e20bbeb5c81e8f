/// Writes for asynchronous code: the task suspends, and a thread of the library's waits. A process has one of them under way for each handle of a
/// table, as a host has one for each table; further ones wait for their turn, and the time counts. A write whose time is over before its turn
/// throws `timedOut`, and nothing was written.
///
/// A task that is cancelled before its write began gets `CancellationError`; what has begun runs to its end.
extension Table.Upstream {
  /// Stores text; see the form that blocks.
  nonisolated(nonsending) public func set(
    _ key: some TableKey & Sendable, _ value: String, timeout: Duration? = nil
  ) async throws {
    try await set(key, Array(value.utf8), timeout: timeout)
  }

  /// Stores bytes; see the form that blocks.
  nonisolated(nonsending) public func set(
    _ key: some TableKey & Sendable, _ value: [UInt8], timeout: Duration? = nil
  ) async throws {
    try await inTurn(timeout) { call in try call.set(Self.bytes(key), value) }
  }

  /// Removes a key; see the form that blocks.
  /// - Returns: whether it was there, at the moment of the removal.
  @discardableResult
  nonisolated(nonsending) public func remove(
    _ key: some TableKey & Sendable, timeout: Duration? = nil
  ) async throws -> Bool {
    try await inTurn(timeout) { call in try call.remove(Self.bytes(key)) }
  }

  /// Adds to a whole number; see the form that blocks.
  /// - Returns: the sum. No two adders get the same.
  @discardableResult
  nonisolated(nonsending) public func increment(
    _ key: some TableKey & Sendable, by amount: Int64 = 1, timeout: Duration? = nil
  ) async throws -> Int64 {
    try await inTurn(timeout) { call in try call.increment(Self.bytes(key), by: amount) }
  }

  /// Makes several changes at once; see the form that blocks. `body` runs on a thread of the library's.
  nonisolated(nonsending) public func transaction<R: Sendable>(
    timeout: Duration? = nil, _ body: @escaping @Sendable (inout UpstreamTransaction) throws -> R
  ) async throws -> R {
    try await inTurn(timeout) { call in try call.transaction(body) }
  }

  private nonisolated(nonsending) func inTurn<R: Sendable>(
    _ timeout: Duration?, _ body: @escaping @Sendable (UpstreamCall) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    let (table, deadline) = (table, Deadline(table.nanoseconds(timeout)))
    return try await table.upstreamQueue().runJobUnlessCancelled(beginningBy: deadline) {
      try body(try UpstreamCall(table, until: deadline))
    }
  }
}

extension Table {
  /// - Throws: `forked`: another thread of the parent may have held the lock.
  fileprivate func upstreamQueue() throws(TableError) -> BarrierQueue {
    guard isOfThisProcess else { throw named(.forked) }
    return upstreamWrites.withLock { $0.queue(of: self) }
  }
}
