import TableEngine

/// Writes for asynchronous code: what the blocking forms of the same names do, without blocking the task's thread.
///
/// A write runs at once on the task's thread if nothing is in its way. Otherwise the task suspends, and one of the library's own threads
/// waits as the blocking form does. The timeout counts from the call, also while closures of queues keep all of these threads at work: a write that
/// gets none in time throws `timedOut`, and is not done later. For a barrier of keys it counts anew from its turn on, and for each attempt after the
/// first where a table is full. Writes of different tasks have no order. A task that is cancelled before its write
/// began gets `CancellationError`; a write that has begun runs to its end. What of a closure, or of a value's coding, then runs on such a thread does
/// not see the task's values (`@TaskLocal`).
extension Table {
  /// Stores a value; see ``set(_:_:expires:if:timeout:)-(_,T,_,_,_)``. Suspends where that form blocks.
  /// - Returns: whether the condition held and the value was stored.
  /// - Throws: what that form throws; `CancellationError` if the task was cancelled before the write began.
  @discardableResult
  @inlinable
  nonisolated(nonsending) public func set<T: TableValue>(
    _ key: some TableKey & Sendable, _ value: T, expires: Expiration = .never, if condition: Condition = .always,
    timeout: Duration? = nil
  ) async throws -> Bool {
    let result = try withoutWaiting { timeout throws(TableError) in
      try set(key, value, expires: expires, if: condition, timeout: timeout)
    }
    if let result { return result }
    return try await awaitTurn(of: key, timeout) { tx in
      try tx.set(key, value, expires: expires, if: condition)
    }
  }

  /// Stores bytes as a value of a given type; see ``set(_:bytes:type:expires:if:timeout:)``. Suspends where that form blocks.
  /// - Returns: whether the condition held and the value was stored.
  /// - Throws: what that form throws; `CancellationError` if the task was cancelled before the write began.
  @discardableResult
  nonisolated(nonsending) public func set(
    _ key: some TableKey & Sendable, bytes: [UInt8], type: ValueType, expires: Expiration = .never,
    if condition: Condition = .always, timeout: Duration? = nil
  ) async throws -> Bool {
    try await awaitBarrier(timeout, reach: OwnedReach(key)) { tx in
      try unsafe bytes.withUnsafeBytes { bytes in
        try unsafe tx.set(key, bytes: bytes, type: type, expires: expires, if: condition)
      }
    }
  }

  /// Removes a key; see ``remove(_:timeout:)->Bool``. Suspends where that form blocks.
  /// - Returns: whether the key was there and had not expired.
  /// - Throws: what that form throws; `CancellationError` if the task was cancelled before the write began.
  @discardableResult
  @inlinable
  nonisolated(nonsending) public func remove(
    _ key: some TableKey & Sendable, timeout: Duration? = nil
  ) async throws -> Bool {
    if let result = try withoutWaiting({ timeout throws(TableError) in try remove(key, timeout: timeout) }) {
      return result
    }
    return try await awaitTurn(of: key, timeout) { tx in try tx.remove(key) }
  }

  /// Removes several keys in one barrier; see ``remove(_:timeout:)->Int``. Suspends where that form blocks.
  /// - Returns: how many were there.
  /// - Throws: what that form throws; `CancellationError` if the task was cancelled before the barrier began.
  @discardableResult
  nonisolated(nonsending) public func remove(
    _ keys: [some TableKey & Sendable], timeout: Duration? = nil
  ) async throws -> Int {
    try await awaitBarrier(timeout) { tx in try tx.remove(keys) }
  }

  /// Adds to an integer and returns the sum; see ``increment(_:by:timeout:)``. Suspends where that form blocks.
  /// - Throws: what that form throws; `CancellationError` if the task was cancelled before the write began.
  @discardableResult
  nonisolated(nonsending) public func increment(
    _ key: some TableKey & Sendable, by amount: Int = 1, timeout: Duration? = nil
  ) async throws -> Int {
    let result = try withoutWaiting { timeout throws(TableError) in try increment(key, by: amount, timeout: timeout) }
    if let result { return result }
    return try await awaitTurn(of: key, timeout) { tx in try tx.increment(key, by: amount) }
  }

  /// Runs `body` alone on the whole host, as the blocking form does. Suspends where that one blocks; `body` then runs on one of the
  /// library's threads.
  ///
  /// For work that is to keep an order, use a ``BarrierQueue``. A closure that finds no room in the table (`full`) is undone and run again, after
  /// reclaiming or once a reader that keeps the room has gone on: it must have no effects outside the transaction.
  /// - Parameters:
  ///   - timeout: for the wait, not for `body`; nil = the table's.
  ///   - body: gets the transaction, which is valid until it returns.
  /// - Throws: what `body` and `barrier(timeout:_:)` throw; `CancellationError` if the task was cancelled before `body` began, or before it was
  ///   run again. Nothing was changed then.
  nonisolated(nonsending) public func barrier<R: Sendable>(
    timeout: Duration? = nil, _ body: @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    try await awaitBarrier(timeout, body)
  }

  /// Runs `body` beside everything on the host that uses none of these keys, as the blocking form does, on one of the
  /// library's threads; the task suspends.
  /// - Throws: what `body` and `barrier(keys:timeout:_:)` throw; `CancellationError` if the task was cancelled before `body` began.
  nonisolated(nonsending) public func barrier<R: Sendable>(
    keys: [some TableKey & Sendable], timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    let queue = BarrierQueue(forOneCallOn: self)
    let work = queue.keyedWork(keyBytes(of: keys), timeout, body)
    return try await queue.perform(work, beginningBy: Deadline(nanoseconds(timeout)))
  }
}

extension Table {
  /// Tries a write that may be begun anew, on the task's thread.
  /// - Parameter write: gets how long it may wait.
  /// - Returns: nil if it might have to wait, or if others have a right to go first; then the write has not happened, though a cache's may have evicted
  ///   elements in barriers of their own. A call with no time to wait would overtake others, and a task that makes one after the other would do so
  ///   without end.
  @inlinable
  func withoutWaiting<R>(_ write: (Duration) throws(TableError) -> R) throws -> R? {
    try Task.checkCancellation()
    if mustLetOthersGoFirst { return nil }
    do throws(TableError) {
      return try write(.zero)
    } catch {
      if error.mayEndByWaiting { return nil }
      throw error
    }
  }

  @usableFromInline
  var mustLetOthersGoFirst: Bool { segment.mustLetOthersGoFirst }

  /// The barrier behind all of these, tried again as ``FullRetry`` says.
  /// - Parameter reach: what `body` may change.
  nonisolated(nonsending) func awaitBarrier<R: Sendable>(
    _ timeout: Duration?, reach: OwnedReach = .table, _ body: @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    var retry = FullRetry()
    do {
      let hasBegun: Void? = try withoutWaiting { timeout throws(TableError) in
        try reach.withReach { reach throws(TableError) in try beginBarrier(timeout, reach: reach) }
      }
      if hasBegun != nil { return try runBarrier(body) }
    } catch let error as TableError {
      try await pause(after: error, &retry, timeout)
    }
    return try await awaitTurns(timeout, reach, &retry, body)
  }

  /// A write that changes one key, in the library's threads, tried again as ``FullRetry`` says.
  @usableFromInline
  nonisolated(nonsending) func awaitTurn<R: Sendable>(
    of key: some TableKey & Sendable, _ timeout: Duration?,
    _ body: @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    var retry = FullRetry()
    return try await awaitTurns(timeout, OwnedReach(key), &retry, body)
  }

  nonisolated(nonsending) private func awaitTurns<R: Sendable>(
    _ timeout: Duration?, _ reach: OwnedReach, _ retry: inout FullRetry,
    _ body: @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    while true {
      do {
        return try await awaitTurn(until: Deadline(nanoseconds(timeout)), reach, body)
      } catch let error as TableError {
        try await pause(after: error, &retry, timeout)
      }
    }
  }

  /// Suspends until the next attempt.
  /// - Throws: `error` if there is to be none; `CancellationError`.
  nonisolated(nonsending) private func pause(
    after error: TableError, _ retry: inout FullRetry, _ timeout: Duration?
  ) async throws {
    guard error.table == name, let (next, pause) = retry.next(after: error, nanoseconds(timeout)) else { throw error }
    if pause > 0 { try await Task.sleep(nanoseconds: pause) }
    retry = next
  }

  /// Runs `body` in the library's threads. The queue is one call's own, for there is no order to keep.
  nonisolated(nonsending) private func awaitTurn<R: Sendable>(
    until deadline: Deadline, _ reach: OwnedReach, _ body: @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    let queue = BarrierQueue(forOneCallOn: self)
    return try await withoutActuallyEscaping(body) { body in
      let work = LentBarrier(queue, until: deadline, reach) { tx in WorkValue.of(try body(&tx)) }
      defer { work.giveBack() }
      return try await queue.perform(work, beginningBy: deadline)
    }
  }
}

extension TableError {
  /// Said of a wait that was in vain: W or a key is held (`timedOut`), or readers keep too much memory (`full`). Or the task
  /// is in a job of a ``HostActor`` over the same table: the job's barrier ends when the task suspends.
  @usableFromInline
  var mayEndByWaiting: Bool { code == .timedOut || code == .full || code == .wouldDeadlock }
}
