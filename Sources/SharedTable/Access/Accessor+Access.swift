public import Dispatch

extension ReadAccessor {
  /// Runs the accessor in one read section and gives its result. First blocks until all changes of the table have ended that this
  /// process began asynchronously before without `on:` a queue, so that it sees them; then blocks as ``Table/read(timeout:_:)`` does.
  ///
  /// Inside a read section of the same table on the same thread it joins that section's snapshot.
  /// - Parameter table: another handle of the same table to run on; nil = the values' own.
  /// - Parameter timeout: for the wait; nil = the table's.
  /// - Throws: what a part of it throws; `wrongTable`, at once, if parts or `table` belong to different tables;
  ///   `typeMismatch`, and what ``Table/read(timeout:_:)`` throws.
  @available(*, noasync, message: "blocks a thread of the cooperative pool; use 'await access()'")
  @inlinable
  public func accessSync(on table: Table? = nil, timeout: Duration? = nil) throws -> Output {
    if table == nil, !AccessQueues.areAnyInUse, let look = plan.look { return try look(timeout) }
    return try accessGenerally(on: table, timeout: timeout)
  }

  @available(*, noasync) @usableFromInline @inline(never)
  func accessGenerally(on table: Table?, timeout: Duration?) throws -> Output {
    try AccessSection.read(self, on: table, timeout: timeout)
  }
}

extension ReadAccessor where Output: Sendable {
  /// Runs the accessor in one read section on another thread, and returns at once. Never blocks.
  ///
  /// It begins after all changes of the table that were begun asynchronously before it in this process without `on:` a queue, and sees them. By a
  /// handle that observes, it may also see changes that this process begins after it.
  /// - Parameter table: another handle of the same table to run on; nil = the values' own.
  /// - Parameter timeout: for the wait for the table once its turn has come; nil = the table's.
  /// - Returns: a handle, which may be dropped: then a failure is a line on standard error.
  /// - Throws: `wrongTable`; `queueFull` if as many accesses of the table wait as a queue takes
  ///   (``BarrierQueue/defaultLimit``); `forked`, and `unsupported` in a forked child whose parent had done asynchronous work. Nothing was
  ///   begun then. What fails later is told to the handle.
  @discardableResult
  public func accessAsync(on table: Table? = nil, timeout: Duration? = nil) throws(TableError) -> WorkItem<Output> {
    try AccessSection.submit(self, on: table, timeout: timeout)
  }

  /// Runs the accessor in one read section on another thread, and hands the result to `completion` on a queue, if it was begun.
  @discardableResult
  public func accessAsync(
    on table: Table? = nil, timeout: Duration? = nil, queue: DispatchQueue,
    completion: @escaping @Sendable (Result<Output, any Error>) -> Void
  ) throws(TableError) -> WorkItem<Output> {
    let item = try accessAsync(on: table, timeout: timeout)
    item.notify(queue: queue, execute: completion)
    return item
  }

  /// Runs the accessor in one read section, while the task is suspended; in the order of ``accessAsync(on:timeout:)-(Table?,_)``.
  ///
  /// In the RCU variant, with no change before it, at once and on the task's thread: nothing there waits.
  /// - Throws: what ``accessSync(on:timeout:)-(Table?,_)`` throws; `CancellationError` if the task was cancelled before the
  ///   section began.
  public func access(on table: Table? = nil, timeout: Duration? = nil) async throws -> Output {
    try await AccessSection.awaitRead(self, on: table, timeout: timeout)
  }
}

extension Accessor {
  /// Runs the accessor in one barrier and gives its result. First blocks until all accesses of the table have ended that this process
  /// began asynchronously before without `on:` a queue, but for reads by handles that observe; then blocks as `Table.barrier(timeout:_:)` does.
  ///
  /// - Parameter table: another handle of the same table to run on; nil = the values' own.
  /// - Parameter timeout: for the wait; nil = the table's.
  /// - Throws: what a part of it throws, after undoing everything; `wrongTable`, at once, if parts or `table` belong to
  ///   different tables; `wouldDeadlock` inside any section of this table on this thread, `typeMismatch`, and what
  ///   `Table.barrier(timeout:_:)` throws.
  @available(*, noasync, message: "blocks a thread of the cooperative pool; use 'await access()'")
  public func accessSync(on table: Table? = nil, timeout: Duration? = nil) throws -> Output {
    try AccessSection.barrier(self, on: table, timeout: timeout)
  }
}

extension Accessor where Output: Sendable {
  /// Runs the accessor in one barrier on another thread, and returns at once. Never blocks.
  ///
  /// The asynchronous changes of one table run in the order in which this process submitted them, after the reads begun asynchronously
  /// before, but for those by handles that observe. Changes that follow each other are committed together, each still all or nothing by
  /// itself. One that finds no room (`full`) among others is undone and run once more, alone: its functions must change nothing but their
  /// values.
  /// - Parameter table: another handle of the same table to run on; nil = the values' own.
  /// - Parameter timeout: for the wait for the table once its turn has come; nil = the table's.
  /// - Returns: a handle, which may be dropped: then a failure is a line on standard error.
  /// - Throws: `wrongTable`; `queueFull` if as many accesses of the table wait as a queue takes
  ///   (``BarrierQueue/defaultLimit``); `forked`, and `unsupported` in a forked child whose parent had done asynchronous work. Nothing was
  ///   begun then. What fails later is told to the handle.
  @discardableResult
  public func accessAsync(on table: Table? = nil, timeout: Duration? = nil) throws(TableError) -> WorkItem<Output> {
    try AccessSection.submit(self, on: table, timeout: timeout)
  }

  /// Runs the accessor in one barrier on another thread, and hands the result to `completion` on a queue, if it was begun.
  @discardableResult
  public func accessAsync(
    on table: Table? = nil, timeout: Duration? = nil, queue: DispatchQueue,
    completion: @escaping @Sendable (Result<Output, any Error>) -> Void
  ) throws(TableError) -> WorkItem<Output> {
    let item = try accessAsync(on: table, timeout: timeout)
    item.notify(queue: queue, execute: completion)
    return item
  }

  /// Runs the accessor in one barrier on another thread, while the task is suspended; in the order of
  /// ``accessAsync(on:timeout:)-(Table?,_)``, and committed with others as there.
  /// - Throws: what ``accessSync(on:timeout:)-(Table?,_)`` throws; `CancellationError` if the task was cancelled before the
  ///   barrier began. A barrier that has begun goes on to its end.
  public func access(on table: Table? = nil, timeout: Duration? = nil) async throws -> Output {
    try await AccessSection.awaitBarrier(self, on: table, timeout: timeout)
  }
}
