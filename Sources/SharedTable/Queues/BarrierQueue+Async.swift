import Glibc
import TableEngine

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
  /// - Throws: `queueFull`; `forked`, and `unsupported` in a forked child whose parent had done asynchronous work. Nothing was submitted then.
  ///   What fails later is told to the handle.
  @discardableResult @inlinable
  public func async<R: Sendable>(
    timeout: Duration? = nil, _ body: @escaping @Sendable (borrowing ReadView) throws -> R
  ) throws(TableError) -> WorkItem<R> {
    WorkItem(try submitRead(timeout) { view in WorkValue.of(try body(view)) }, of: self)
  }

  /// Without flags it is a read, as with a `DispatchQueue`: what the form without them does.
  @discardableResult @inlinable
  public func async<R: Sendable>(
    flags: ReadFlags, timeout: Duration? = nil, _ body: @escaping @Sendable (borrowing ReadView) throws -> R
  ) throws(TableError) -> WorkItem<R> {
    try async(timeout: timeout, body)
  }

  @usableFromInline
  func submitRead(
    _ timeout: Duration?, _ body: @escaping @Sendable (borrowing ReadView) throws -> WorkValue?
  ) throws(TableError) -> Work {
    let work = ClosureRead(self, timeout, body)
    try submit(work)
    return work
  }

  /// Submits a barrier and returns at once. Never blocks.
  ///
  /// Barriers that follow each other are committed together, up to 256 of them or a millisecond's worth. Each is still
  /// all or nothing by itself, and has ended only when its changes are visible on the whole host. If a closure finds no room
  /// (`full`) in a barrier with others, it is undone and run once more, alone: it must have no effects outside the transaction. What such a
  /// barrier has stored, it shows as of version 0, for no condition to compare: see ``TableEntry/version``.
  /// - Parameters:
  ///   - timeout: for the wait for the table once its turn has come; nil = the table's. If a barrier times out, those that
  ///     were waiting behind it fail with it, up to the first with a longer timeout.
  ///   - body: gets the transaction, which is valid until it returns.
  ///   - flags: `.barrier`, and what else it waits for.
  /// - Returns: a handle, which may be dropped.
  /// - Throws: `queueFull`; `forked`, and `unsupported` in a forked child whose parent had done asynchronous work. Nothing was submitted then.
  ///   What fails later is told to the handle.
  @discardableResult @inlinable
  public func async<R: Sendable>(
    flags: BarrierFlags, timeout: Duration? = nil, _ body: @escaping @Sendable (inout Transaction) throws -> R
  ) throws(TableError) -> WorkItem<R> {
    WorkItem(try submitBarrier(timeout, flags) { tx in WorkValue.of(try body(&tx)) }, of: self)
  }

  /// Submits a barrier whose closure has no result, at a lower cost than one with a result.
  @discardableResult @inlinable
  public func async(
    flags: BarrierFlags, timeout: Duration? = nil,
    _ body: consuming @escaping @Sendable (inout Transaction) throws -> Void
  ) throws(TableError) -> WorkItem<Void> {
    WorkItem(try submitBarrier(timeout, flags, body), of: self)
  }

  @usableFromInline
  func submitBarrier(
    _ timeout: Duration?, _ flags: BarrierFlags,
    _ body: consuming @escaping @Sendable (inout Transaction) throws -> Void
  ) throws(TableError) -> Work {
    // A `Work` from the beginning: one that is made one when it is returned is counted once more.
    let work: Work = VoidBarrier(self, timeout, waitsForReaders: flags == .barrierWaitingForReaders, body)
    try submit(work)
    return work
  }

  @usableFromInline
  func submitBarrier(
    _ timeout: Duration?, _ flags: BarrierFlags, _ body: @escaping @Sendable (inout Transaction) throws -> WorkValue?
  ) throws(TableError) -> Work {
    let work = ClosureBarrier(self, timeout, waitsForReaders: flags == .barrierWaitingForReaders, body)
    try submit(work)
    return work
  }

  // Inlined: each item of a burst comes here.
  @inline(__always)
  func submit(_ work: Work) throws(TableError) {
    try checkAsynchrony()
    // What a closure captures is counted.
    let uncounted = unsafe UncountedReference(work)
    let isSubmitted = withOrderInlined { order in
      guard order.hasRoom else { return false }
      uncounted.with { order.submit($0) }
      return true
    }
    if !isSubmitted { throw full() }
  }

  @inline(__always)
  func checkAsynchrony() throws(TableError) {
    try checkProcess()
    // The first submission also checks that the pool belongs to this process, and registers the queue for the exit.
    if !isFlushedAtExit.load(ordering: .relaxed) { try registerForExit() }
  }

  @inline(never)
  private func registerForExit() throws(TableError) {
    if !WorkerPool.shared.isOfThisProcess { throw labelled(table.named(Self.forkedPool)) }
    ExitFlush.register(self)
  }

  private static var forkedPool: EngineError {
    .unsupported("asynchronous work in a child whose parent had done some", instead: "call exec in the child first")
  }

  /// Takes out work whose closure has not begun, and fails it with `error`. If its turn has come already, that goes on without it.
  /// - Returns: whether it did.
  func cancel(_ work: Work, failingWith error: any Error = CancellationError()) -> Bool {
    guard table.isOfThisProcess else { return false }
    // Claimed first: a lane that has taken it out of the queue and puts it back then leaves it out.
    guard work.claim() else { return false }
    _ = withOrder { $0.withdraw(work) }
    work.fail(error)
    return true
  }
}

/// What worker threads do for the queue.
extension BarrierQueue {
  /// Whether the next turn may wait for the table.
  var mayNextTurnWait: Bool { withOrder { $0.mayNextTurnWait } }

  /// The pool holds one of its turns: its reads that wait for nothing have others.
  func noteHeldTurn() { withOrder { $0.noteHeldTurn() } }

  /// Runs one read, or one group of barriers. The parameters are those of ``SubmissionOrder/beginTurn(isReadFirst:wasHeld:)``.
  func runTurn(isReadFirst: Bool, wasHeld: Bool) {
    let work = withOrder { $0.beginTurn(isReadFirst: isReadFirst, wasHeld: wasHeld) }
    if let work { work.take(turnOf: self) } else { withOrder { $0.endTurn() } }
  }

  /// In a thread of Dispatch's pool, which must not be held up: runs a group of barriers if the table can be had without waiting;
  /// else a lane takes the turn.
  func runTurnInPool() {
    do throws(TableError) {
      guard try beginBarrierAtOnce() else { return WorkerPool.shared.request(1, of: self) }
    } catch {
      // The lane meets the same, and says so.
      return WorkerPool.shared.request(1, of: self)
    }
    let work = withOrder { $0.beginTurn() }
    if let work, work.isBarrierWork { return runInOpenBarrier(work.asBarrierWork) }
    // Somebody took the barrier out of the queue, or flushes it.
    table.segment.abortBarrier()
    if let work { work.take(turnOf: self) } else { withOrder { $0.endTurn() } }
  }

  /// On a lane, in a turn: has other work begin while `body` waits for the table.
  func whileWaiting<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    withOrder { $0.beginWait() }
    defer { withOrder { $0.endWait() } }
    return try WorkerPool.shared.whileWaiting(for: table.segment, body)
  }

  /// Opens a read section in a turn, as ``beginBarrierInTurn(_:)`` opens a barrier.
  func beginReadInTurn(_ timeout: Duration?) throws(TableError) -> ReadSection {
    let deadline = Deadline(table.nanoseconds(timeout))
    if let hold = try beginSoon(deadline, beginRead) { return hold }
    return try whileWaiting { () throws(TableError) in try beginRead(deadline.left) }
  }

  /// Opens a barrier of the table in a turn. Who has waited for some milliseconds may wait long: other work begins then.
  /// Not before, for many queues of one table wait for each other all the time, and each for a moment.
  /// - Returns: false, with the turn ended, if too many wait for this table: the barrier gets another turn, unless it was cancelled.
  func beginBarrierInTurn(_ work: BarrierWork) throws(TableError) -> Bool {
    let deadline = work.turnDeadline ?? work.deadlineOfFirstTurn
    work.turnDeadline = deadline
    if stepsBackAtOnce(work, deadline) {
      stepBack(work, until: deadline)
      return false
    }
    let begin = { timeout throws(TableError) in try self.beginBarrier(timeout, work.reach) }
    if try beginSoon(deadline, begin) != nil { return true }
    guard work.reach.isTable else {
      // It may wait for somebody's key, and others of the table for other keys.
      try whileWaiting { () throws(TableError) in try begin(deadline.left) }
      return true
    }
    if try whileWaitingForTable({ () throws(TableError) in try begin(deadline.left) }) != nil { return true }
    stepBack(work, until: deadline)
    return false
  }

  /// Whether a barrier steps back without having waited those milliseconds, in a lane that counts as at work. Otherwise hundreds of queues of
  /// a table that is held would have all lanes wait for it, one queue after the other, and the work of other tables behind them.
  ///
  /// If the barrier's deadline has come, its lane does not step back: it asks the engine for the table, and the engine's error names the process that
  /// holds it.
  func stepsBackAtOnce(_ work: BarrierWork, _ deadline: Deadline) -> Bool {
    work.reach.isTable && WorkerPool.shared.isCrowdFull(of: table.segment) && !deadline.isPast
  }

  /// - Returns: nil with nothing done if too many wait for this table.
  private func whileWaitingForTable<R>(_ body: () throws(TableError) -> R) throws(TableError) -> R? {
    withOrder { $0.beginWait() }
    defer { withOrder { $0.endWait() } }
    return try WorkerPool.shared.whileWaiting(forBarrierOf: table.segment, body)
  }

  /// - Returns: nil if some milliseconds were too few. Whatever the reason: it has waited, for W (`timedOut`), for a
  ///   stalled reader (`full`), or as an observer (`busy`).
  private func beginSoon<R>(
    _ deadline: Deadline, _ begin: (Duration?) throws(TableError) -> R
  ) throws(TableError) -> R? {
    let first = Deadline(min(deadline.left, .milliseconds(10)))
    do throws(TableError) { return try begin(first.left) } catch {
      // The engine may count from an instant that is a tick ago, and so end its wait before `first` is past, whether for W (`timedOut`) or for
      // a reader (`full`).
      guard error.code == .timedOut || error.mayFitLater || first.isPast, !deadline.isPast else { throw error }
      return nil
    }
  }

  /// Gives the lane to other work until fewer wait for the table, or the deadline: then the next turn says what is in the way.
  private func stepBack(_ work: BarrierWork, until deadline: Deadline) {
    guard withOrder({ $0.stepBack(work) }) else { return }
    if !WorkerPool.shared.addToCrowd(self, until: deadline) { comeBack() }
  }

  /// Has a turn asked for the barrier that stepped back, if it is still there.
  func comeBack() { withOrder { $0.comeBack() } }

  /// Called after a closure. A child that was forked in it ends: this thread is one of its parent's lanes, and whatever it would go on with, locks
  /// and the next closures, is the parent's.
  func endIfForked() {
    if !segment.with({ $0.isOfThisProcess }) { _exit(0) }
  }

  /// Has the queue move on, and then tells of the outcome: whoever is told may use the queue.
  func endTurn(_ finish: (inout SubmissionOrder) -> Void, telling announce: () -> Void) {
    ExitFlush.telling.enter()
    withOrder { order in
      order.endTurn()
      finish(&order)
    }
    announce()
    ExitFlush.telling.leave()
  }
}
