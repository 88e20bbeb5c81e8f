/// Barriers of some keys: see `Table.barrier(keys:timeout:_:)`.
///
/// In the queue's order they are treated as reads: they run after the barriers of the whole table that were submitted before, before
/// those submitted later, and beside reads and each other. Two that lock one of the same keys exclude each other on the whole host, and run
/// in the order in which they asked for the keys.
extension BarrierQueue {
  /// Runs `body`, on the calling thread, beside everything that uses none of these keys.
  ///
  /// Waits for barriers submitted to this queue before, then as `Table.barrier(keys:timeout:_:)` does.
  /// - Parameters:
  ///   - keys: at least one; each stands for itself and for all that begin with it and a slash.
  ///   - timeout: for the wait for its turn and for its keys together; and once more for the commit. Nil = the table's.
  ///   - body: gets the transaction, which shows and takes these keys only and is valid until it returns.
  /// - Throws: what `Table.barrier(keys:timeout:_:)` throws; `wouldDeadlock` inside any section of this table on this
  ///   thread.
  @available(*, noasync, message: "use `await queue.barrier(keys:)`")
  @inlinable
  public func sync<R: ~Copyable>(
    keys: [some TableKey], timeout: Duration? = nil, _ body: (inout Transaction) throws -> R
  ) throws -> R {
    let pass = try enterKeyedBarrier(timeout)
    defer { leaveRead(pass) }
    try beginKeyedBarrier(keyBytes(of: keys), pass.timeout, forCommit: timeout)
    let result = try table.runInKeyedBarrier(body)
    try commitKeyedBarrier()
    return result
  }

  /// Submits a barrier of some keys and returns at once. Never blocks.
  ///
  /// While it waits for its keys it occupies a thread. Other work of the process then gets another thread, up to 16 for this queue, or 32
  /// with more than eight processors.
  /// - Parameters:
  ///   - keys: at least one; each stands for itself and for all that begin with it and a slash.
  ///   - timeout: for the wait for its keys once its turn has come, and once more for the commit; nil = the table's.
  ///   - body: gets the transaction, which shows and takes these keys only and is valid until it returns.
  /// - Returns: a handle, which may be dropped.
  /// - Throws: `queueFull`; `forked`, and `unsupported` in a forked child whose parent had done asynchronous work. Nothing was submitted then.
  ///   What fails later is told to the handle.
  @discardableResult
  public func async<R: Sendable>(
    keys: [some TableKey & Sendable], timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Transaction) throws -> R
  ) throws(TableError) -> WorkItem<R> {
    let work = keyedWork(keyBytes(of: keys), timeout, body)
    try submit(work)
    return WorkItem(work, of: self)
  }

  /// Runs `body` beside everything that uses none of these keys.
  ///
  /// On one of the queue's threads, as ``async(keys:timeout:_:)``. While the queue is full this suspends.
  /// - Parameters:
  ///   - keys: at least one; each stands for itself and for all that begin with it and a slash.
  ///   - timeout: for the wait for its keys once its turn has come, and once more for the commit; nil = the table's.
  ///   - body: gets the transaction, which shows and takes these keys only and is valid until it returns.
  /// - Throws: what `Table.barrier(keys:timeout:_:)` throws; `CancellationError` if the task was cancelled before the
  ///   closure began. What has begun runs to its end, is committed and gives its result.
  nonisolated(nonsending) public func barrier<R: Sendable>(
    keys: [some TableKey & Sendable], timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    return try await perform(keyedWork(keyBytes(of: keys), timeout, body))
  }

  func keyedWork<R: Sendable>(
    _ keys: [[UInt8]], _ timeout: Duration?,
    _ body: @escaping @Sendable (inout Transaction) throws -> R
  ) -> KeyedWork {
    KeyedWork(
      self, timeout, begin: { queue throws(TableError) in try queue.beginKeyedBarrierInTurn(keys, timeout) },
      { queue in
        let value = try queue.table.runInKeyedBarrier { tx in
          defer { queue.endIfForked() }
          return try body(&tx)
        }
        try queue.commitKeyedBarrierInTurn()
        return WorkValue.of(value)
      })
  }

  private func beginKeyedBarrierInTurn(_ keys: [[UInt8]], _ timeout: Duration?) throws(TableError) {
    if try beginKeyedBarrierAtOnce(keys, timeout) { return }
    try whileWaiting { () throws(TableError) in try beginKeyedBarrier(keys, timeout, forCommit: timeout) }
  }

  /// The commit waits for the writer that holds the table, and in the rwlock variant for the readers that are in it.
  private func commitKeyedBarrierInTurn() throws(TableError) {
    if runsAtOnce, table.segment.barrierHolder == nil { return try commitKeyedBarrier() }
    try whileWaiting { () throws(TableError) in try commitKeyedBarrier() }
  }

  @usableFromInline
  func commitKeyedBarrier() throws(TableError) {
    do throws(TableError) { try table.commitKeyedBarrier() } catch { throw labelled(error) }
  }

  /// - Parameter timeout: for the commit.
  /// - Returns: false with nothing done if it might have to wait.
  private func beginKeyedBarrierAtOnce(_ keys: [[UInt8]], _ timeout: Duration?) throws(TableError) -> Bool {
    do throws(TableError) { return try table.beginKeyedBarrierAtOnce(keys, timeout) } catch { throw labelled(error) }
  }

  @usableFromInline
  func enterKeyedBarrier(_ timeout: Duration?) throws(TableError) -> ReadPass {
    try checkOutsideSections(toDo: "a barrier")
    return try enterRead(timeout)
  }

  @usableFromInline
  func beginKeyedBarrier(
    _ keys: [[UInt8]], _ timeout: Duration?, forCommit commitTimeout: Duration?
  ) throws(TableError) {
    do throws(TableError) {
      try table.beginKeyedBarrier(keys, timeout, forCommit: commitTimeout)
    } catch {
      throw labelled(error)
    }
  }
}
