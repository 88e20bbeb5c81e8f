/// Accesses on a queue of one's own: in its order, under its label, and told to its error handler.
extension ReadAccessor {
  /// Runs the accessor as a read of `queue` and gives its result; blocks as ``BarrierQueue/sync(timeout:_:)`` does.
  /// - Parameters:
  ///   - queue: over the table of the values; they are looked at by its handle.
  ///   - timeout: for all waiting together; nil = the table's.
  /// - Throws: what a part of it throws; `wrongTable`, at once, if parts or the queue belong to different tables;
  ///   `typeMismatch`, and what ``BarrierQueue/sync(timeout:_:)`` throws.
  @available(*, noasync, message: "blocks a thread of the cooperative pool; use 'await access(on:)'")
  public func accessSync(on queue: BarrierQueue, timeout: Duration? = nil) throws -> Output {
    try AccessSection.read(self, on: queue, timeout: timeout)
  }
}

extension ReadAccessor where Output: Sendable {
  /// Submits the accessor as a read of `queue` and returns at once, as ``BarrierQueue/async(timeout:_:)`` does.
  /// - Throws: `wrongTable`; what ``BarrierQueue/async(timeout:_:)`` throws. Nothing was submitted then.
  @discardableResult
  public func accessAsync(on queue: BarrierQueue, timeout: Duration? = nil) throws(TableError) -> WorkItem<Output> {
    try AccessSection.submit(self, on: queue, timeout: timeout)
  }

  /// Runs the accessor as a read of `queue` while the task is suspended, as ``BarrierQueue/read(timeout:_:)`` does.
  /// - Throws: what ``accessSync(on:timeout:)-(BarrierQueue,_)`` throws; `CancellationError` if the task was cancelled before it began.
  public func access(on queue: BarrierQueue, timeout: Duration? = nil) async throws -> Output {
    try await AccessSection.awaitRead(self, on: queue, timeout: timeout)
  }
}

extension Accessor {
  /// Runs the accessor as a barrier of `queue` and gives its result; blocks as
  /// ``BarrierQueue/sync(flags:timeout:_:)-(BarrierFlags,_,_)`` does.
  /// - Parameters:
  ///   - queue: over the table of the values; they are changed by its handle.
  ///   - timeout: for all waiting together; nil = the table's.
  /// - Throws: what a part of it throws, after undoing everything; `wrongTable`, at once, if parts or the queue belong to
  ///   different tables; `typeMismatch`, and what ``BarrierQueue/sync(flags:timeout:_:)-(BarrierFlags,_,_)`` throws.
  @available(*, noasync, message: "blocks a thread of the cooperative pool; use 'await access(on:)'")
  public func accessSync(on queue: BarrierQueue, timeout: Duration? = nil) throws -> Output {
    try AccessSection.barrier(self, on: queue, timeout: timeout)
  }
}

extension Accessor where Output: Sendable {
  /// Submits the accessor as a barrier of `queue` and returns at once, as
  /// ``BarrierQueue/async(flags:timeout:_:)-(BarrierFlags,_,(Transaction)->R)`` does.
  /// - Throws: `wrongTable`; what ``BarrierQueue/async(timeout:_:)`` throws. Nothing was submitted then.
  @discardableResult
  public func accessAsync(on queue: BarrierQueue, timeout: Duration? = nil) throws(TableError) -> WorkItem<Output> {
    try AccessSection.submit(self, on: queue, timeout: timeout)
  }

  /// Runs the accessor as a barrier of `queue` while the task is suspended, as ``BarrierQueue/barrier(waitingForReaders:timeout:_:)``
  /// does.
  /// - Throws: what ``accessSync(on:timeout:)-(BarrierQueue,_)`` throws; `CancellationError` if the task was cancelled before it began.
  public func access(on queue: BarrierQueue, timeout: Duration? = nil) async throws -> Output {
    try await AccessSection.awaitBarrier(self, on: queue, timeout: timeout)
  }
}
