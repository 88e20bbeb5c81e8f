/// Sections that run on other threads.
extension BarrierQueue {
  /// Submits a read and returns at once. Never blocks.
  ///
  /// The closure runs on one snapshot, after all barriers submitted before it.
  /// - Parameters:
  ///   - timeout: for the wait for the table (rwlock variant, observers) once its turn has come; nil = the
  ///     table's. What waits for its turn waits until what is before it has finished; cancel it to give up.
  ///   - body: gets the view, which is valid until it returns.
  /// - Returns: a handle, which may be dropped.
  /// - Throws: `queueFull`, `forked`; nothing was submitted then. What fails later is told to the handle.
  @discardableResult
  public func async<R: Sendable>(
    timeout: Duration? = nil, _ body: @escaping @Sendable (borrowing ReadView) throws -> R
  ) throws(TableError) -> WorkItem<R> {
    try submitRead(table, timeout, body)
  }

  /// - Parameter table: the caller's handle of the table; its timeout is that of waiting for the item.
  func submitRead<R: Sendable>(
    _ table: Table, _ timeout: Duration?, _ body: @escaping @Sendable (borrowing ReadView) throws -> R
  ) throws(TableError) -> WorkItem<R> {
    let outcome = Outcome<R>(errorHandler: errorHandler)
    let work = TypedRead(timeout, outcome, body)
    try submit(work)
    return WorkItem(self, work, outcome, table)
  }

  /// Submits a barrier and returns at once. Never blocks.
  ///
  /// Barriers that follow each other are committed together, up to 256 of them or a millisecond's worth. Each is still
  /// all or nothing by itself, and has ended only when its changes are visible on the whole host. A closure that finds
  /// no room (`full`) among others is undone and run once more, alone: it should do nothing but to the transaction.
  /// - Parameters:
  ///   - timeout: for the wait for the table once its turn has come; nil = the table's. If one times out, those that
  ///     follow it and would wait no longer fail with it.
  ///   - body: gets the transaction, which is valid until it returns.
  ///   - flags: `.barrier`, and what else it waits for.
  /// - Returns: a handle, which may be dropped.
  /// - Throws: `queueFull`, `forked`; nothing was submitted then. What fails later is told to the handle.
  @discardableResult
  public func async<R: Sendable>(
    flags: BarrierFlags, timeout: Duration? = nil, _ body: @escaping @Sendable (inout Transaction) throws -> R
  ) throws(TableError) -> WorkItem<R> {
    try submitBarrier(table, timeout, waitsForReaders: flags.contains(.waitForReaders), body)
  }

  /// - Parameter table: the caller's handle of the table; its timeout is that of waiting for the item.
  func submitBarrier<R: Sendable>(
    _ table: Table, _ timeout: Duration?, waitsForReaders: Bool = false,
    _ body: @escaping @Sendable (inout Transaction) throws -> R
  ) throws(TableError) -> WorkItem<R> {
    let outcome = Outcome<R>(errorHandler: errorHandler)
    let work = TypedBarrier(timeout, waitsForReaders: waitsForReaders, outcome, body)
    try submit(work)
    return WorkItem(self, work, outcome, table)
  }

  func submit(_ work: Work) throws(TableError) {
    try checkAsynchrony()
    let isSubmitted = withOrder { order in
      guard order.hasRoom else { return false }
      order.submit(work)
      return true
    }
    if !isSubmitted { throw full() }
  }

  func checkAsynchrony() throws(TableError) {
    try checkProcess()
    if !WorkerPool.shared.isOfThisProcess { throw labelled(table.named(.unsupported(Self.forkedPool))) }
    ExitFlush.register(self)
  }

  private static var forkedPool: String { "asynchronous work in a child whose parent had done some (exec first)" }

  /// Takes out work that has not begun.
  func cancel(_ work: Work) -> Bool {
    guard table.isUsable, withOrder({ $0.withdraw(work) }) else { return false }
    work.fail(CancellationError())
    return true
  }
}

/// On the worker threads.
extension BarrierQueue {
  /// Runs one read, or one group of barriers.
  func takeTurn() {
    guard let work = withOrder({ $0.beginTurn() }) else { return withOrder { $0.endTurn() } }
    (work as? Work)?.take(turnOf: self)
  }

  func endRead(_ announce: Announcement) {
    withOrder { order in
      order.endTurn()
      order.finishRead()
    }
    announce()
  }
}
