public import Dispatch

extension ReadAccessor {
  /// Runs the accessor in one read section and gives its result. Blocks as ``Table/read(timeout:_:)`` does.
  ///
  /// Inside a read section of the same table on the same thread it joins that section's snapshot.
  /// - Parameter table: another handle of the same table to run on; nil = the values' own.
  /// - Parameter timeout: for the wait; nil = the table's.
  /// - Throws: what a part of it throws; `wrongTable`, at once, if parts or `table` belong to different tables;
  ///   `typeMismatch`, and what ``Table/read(timeout:_:)`` throws.
  @available(*, noasync, message: "blocks a thread of the cooperative pool; use 'await access()'")
  public func accessSync(on table: Table? = nil, timeout: Duration? = nil) throws -> Output {
    try AccessSection.read(self, on: table, timeout: timeout)
  }
}

extension ReadAccessor where Output: Sendable {
  /// Runs the accessor in one read section on another thread. Never blocks; the result comes through the handle.
  ///
  /// Accesses of one table that only look may overtake each other, and those that change something.
  /// Errors, also `full` if 10,000 accesses wait, come through the handle.
  @discardableResult
  public func accessAsync(on table: Table? = nil, timeout: Duration? = nil) -> AccessHandle<Output> {
    begin(on: table, timeout: timeout, isBounded: true)
  }

  /// The same, with the result handed to `completion` on a queue.
  @discardableResult
  public func accessAsync(
    on table: Table? = nil, timeout: Duration? = nil, queue: DispatchQueue,
    completion: @escaping @Sendable (Result<Output, any Error>) -> Void
  ) -> AccessHandle<Output> {
    let handle = accessAsync(on: table, timeout: timeout)
    handle.notify(queue: queue, completion)
    return handle
  }

  /// Runs the accessor in one read section on another thread, while the task is suspended.
  /// - Throws: what ``accessSync(on:timeout:)`` throws; `CancellationError` if the task was cancelled before the
  ///   section began.
  public func access(on table: Table? = nil, timeout: Duration? = nil) async throws -> Output {
    try Task.checkCancellation()
    return try await begin(on: table, timeout: timeout, isBounded: false).output()
  }

  private func begin(on chosen: Table?, timeout: Duration?, isBounded: Bool) -> AccessHandle<Output> {
    .begin(scope, on: chosen, changes: false, isBounded: isBounded) { table in
      try AccessSection.read(self, on: table, timeout: timeout)
    }
  }
}

extension Accessor {
  /// Runs the accessor in one barrier and gives its result. Blocks as ``Table/barrier(timeout:_:)`` does.
  ///
  /// - Parameter table: another handle of the same table to run on; nil = the values' own.
  /// - Parameter timeout: for the wait; nil = the table's.
  /// - Throws: what a part of it throws, after undoing everything; `wrongTable`, at once, if parts or `table` belong to
  ///   different tables; `wouldDeadlock` inside any section of this table on this thread, `typeMismatch`, and what
  ///   ``Table/barrier(timeout:_:)`` throws.
  @available(*, noasync, message: "blocks a thread of the cooperative pool; use 'await access()'")
  public func accessSync(on table: Table? = nil, timeout: Duration? = nil) throws -> Output {
    try AccessSection.barrier(self, on: table, timeout: timeout)
  }
}

extension Accessor where Output: Sendable {
  /// Runs the accessor in one barrier on another thread. Never blocks; the result comes through the handle.
  ///
  /// Those of one table run one after the other, in the order of their submission in this process.
  /// Errors, also `full` if 10,000 accesses wait, come through the handle.
  @discardableResult
  public func accessAsync(on table: Table? = nil, timeout: Duration? = nil) -> AccessHandle<Output> {
    begin(on: table, timeout: timeout, isBounded: true)
  }

  /// The same, with the result handed to `completion` on a queue.
  @discardableResult
  public func accessAsync(
    on table: Table? = nil, timeout: Duration? = nil, queue: DispatchQueue,
    completion: @escaping @Sendable (Result<Output, any Error>) -> Void
  ) -> AccessHandle<Output> {
    let handle = accessAsync(on: table, timeout: timeout)
    handle.notify(queue: queue, completion)
    return handle
  }

  /// Runs the accessor in one barrier on another thread, while the task is suspended.
  /// - Throws: what ``accessSync(on:timeout:)`` throws; `CancellationError` if the task was cancelled before the
  ///   barrier began. A barrier that has begun goes on to its end.
  public func access(on table: Table? = nil, timeout: Duration? = nil) async throws -> Output {
    try Task.checkCancellation()
    return try await begin(on: table, timeout: timeout, isBounded: false).output()
  }

  private func begin(on chosen: Table?, timeout: Duration?, isBounded: Bool) -> AccessHandle<Output> {
    .begin(scope, on: chosen, changes: true, isBounded: isBounded) { table in
      try AccessSection.barrier(self, on: table, timeout: timeout)
    }
  }
}

extension AccessHandle {
  fileprivate static func begin(
    _ scope: AccessScope, on chosen: Table?, changes: Bool, isBounded: Bool,
    _ body: @escaping @Sendable (Table) throws -> Output
  ) -> AccessHandle {
    let table: Table
    do throws(TableError) {
      table = try scope.table(chosen)
    } catch {
      let handle = AccessHandle(chosen ?? scope.first, changes: changes)
      handle.fail(error)
      return handle
    }
    let handle = AccessHandle(table, changes: changes)
    let lane = AccessPool.Lane(table, changes: changes)
    let isAdmitted = AccessPool.shared.submit(lane, isBounded: isBounded) { handle.run { try body(table) } }
    if !isAdmitted {
      handle.fail(
        TableError(
          .full, table: table.name,
          "\(AccessPool.depth) accesses wait already; wait for some of them, or use 'await access()'"))
    }
    return handle
  }

  /// Suspends the task until the access has ended; cancelling the task cancels the access.
  fileprivate func output() async throws -> Output {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        whenFinished { continuation.resume(with: $0) }
      }
    } onCancel: {
      cancel()
    }
  }
}
