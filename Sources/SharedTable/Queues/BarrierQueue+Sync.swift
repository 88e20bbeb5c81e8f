public import TableEngine

/// Sections that run on the calling thread.
extension BarrierQueue {
  /// Runs `body` on one snapshot of the whole table, on the calling thread.
  ///
  /// Waits only for barriers submitted to this queue before, and in the rwlock variant for the barrier that runs on the
  /// table. Without a pending barrier that is two atomic additions more than ``Table/read(timeout:_:)``. Inside a read
  /// section of the same table on this thread it joins that one and its snapshot, and never waits.
  /// - Parameters:
  ///   - timeout: for all waiting together; nil = the table's.
  ///   - body: gets the view, which is valid until it returns.
  /// - Throws: what `body` throws; `timedOut` naming the holder, `wouldDeadlock` inside a barrier of this table on this
  ///   thread, and what ``Table/read(timeout:_:)`` throws.
  @available(*, noasync, message: "use `await queue.read`")
  @inlinable
  public func sync<R: ~Copyable>(
    timeout: Duration? = nil, _ body: (borrowing ReadView) throws -> R
  ) throws -> R {
    let pass = try enterRead(timeout)
    defer { leaveRead(pass) }
    return try table.run(try beginRead(pass.timeout), body)
  }

  /// Without flags it is a read, as with a `DispatchQueue`: what the form without them does.
  @available(*, noasync, message: "use `await queue.read`")
  @inlinable
  public func sync<R: ~Copyable>(
    flags: ReadFlags, timeout: Duration? = nil, _ body: (borrowing ReadView) throws -> R
  ) throws -> R {
    try sync(timeout: timeout, body)
  }

  /// Runs `body` alone on the whole host, on the calling thread, and makes its changes visible all at once or, if it
  /// throws or its process dies, not at all.
  ///
  /// Waits for everything submitted to this queue before, and for other barriers on the host; in the rwlock variant
  /// also for readers. What is submitted to this queue meanwhile waits for it.
  /// - Parameters:
  ///   - timeout: for all waiting together, not for `body`; nil = the table's.
  ///   - flags: `.barrier`, and what else it waits for.
  ///   - body: gets the transaction, which is valid until it returns.
  /// - Throws: what `body` throws, after undoing everything; `timedOut` naming the holder, `wouldDeadlock` inside any
  ///   section of this table on this thread, and what `Table.barrier(timeout:_:)` throws; with `.barrierWaitingForReaders`
  ///   `readersRemain`.
  @available(*, noasync, message: "use `await queue.barrier`")
  @inlinable
  public func sync<R: ~Copyable>(
    flags: BarrierFlags, timeout: Duration? = nil, _ body: (inout Transaction) throws -> R
  ) throws -> R {
    if flags == .barrierWaitingForReaders { return try syncThenWait(timeout, body) }
    let timeout = try enterBarrier(timeout)
    defer { leaveBarrier() }
    try beginBarrier(timeout)
    return try table.runBarrier(body)
  }

  @usableFromInline
  func syncThenWait<R: ~Copyable>(_ timeout: Duration?, _ body: (inout Transaction) throws -> R) throws -> R {
    let wait = Deadline(table.nanoseconds(timeout))
    var (version, left): (UInt64, UInt64) = (0, 0)
    let result = try sync(flags: .barrier, timeout: timeout) { (tx: inout Transaction) throws -> R in
      version = table.segment.versionInBarrier
      // What `body` takes is no wait.
      left = wait.leftNanoseconds
      return try body(&tx)
    }
    try waitAfterCommit(of: version, Deadline(left))
    return result
  }

  func waitAfterCommit(of version: UInt64, _ wait: Deadline) throws(TableError) {
    do throws(TableError) { try table.waitAfterCommit(of: version, wait) } catch { throw labelled(error) }
  }

  // MARK: - Reads

  /// How a read came in, and how long it may still wait.
  @usableFromInline
  struct ReadPass {
    /// The gate's stripe that counts it; or one of those below.
    @usableFromInline let stripe: Int
    @usableFromInline let timeout: Duration?

    @inlinable
    init(stripe: Int, timeout: Duration?) {
      self.stripe = stripe
      self.timeout = timeout
    }

    /// Counted in the order.
    static let inOrder = -1
    /// Part of an outer section, and not counted.
    static let joined = -2
  }

  @inlinable
  func enterRead(_ timeout: Duration?) throws(TableError) -> ReadPass {
    if segment.with({ $0.threadSection }) != .barrier, let stripe = gate.enter(thread: segment.with { $0.threadNumber })
    {
      return ReadPass(stripe: stripe, timeout: timeout)
    }
    return try enterReadInOrder(timeout)
  }

  @usableFromInline @inline(never)
  func enterReadInOrder(_ timeout: Duration?) throws(TableError) -> ReadPass {
    try checkProcess()
    switch table.segment.threadSection {
    case .barrier:
      throw wouldDeadlock("a read")
    case .read:
      // The barrier that closed the gate waits for the outer section, or does not know of it: to wait for the barrier
      // would be to wait for ourselves. It may have seen us turn back.
      withOrder { $0.proceed() }
      return ReadPass(stripe: ReadPass.joined, timeout: timeout)
    case .none:
      try checkOutsideOwnJob(toDo: "a read")
    }
    let left = try waitForTurn(timeout) { $0.submitRead() }
    return ReadPass(stripe: ReadPass.inOrder, timeout: left)
  }

  @inlinable
  func leaveRead(_ pass: ReadPass) {
    if pass.stripe < 0 || gate.leave(pass.stripe) { leaveReadInOrder(pass) }
  }

  @usableFromInline @inline(never)
  func leaveReadInOrder(_ pass: ReadPass) {
    // A child forked inside the section ends it here too.
    guard table.isOfThisProcess else { return }
    switch pass.stripe {
    case ReadPass.joined: break
    case ReadPass.inOrder: withOrder { $0.finishRead() }
    default: withOrder { $0.proceed() }
    }
  }

  @usableFromInline
  func beginRead(_ timeout: Duration?) throws(TableError) -> ReadSection {
    do throws(TableError) { return try table.beginRead(timeout) } catch { throw labelled(error) }
  }

  // MARK: - Barriers

  /// - Returns: how long the barrier may still wait for the table.
  @usableFromInline
  func enterBarrier(_ timeout: Duration?) throws(TableError) -> Duration? {
    try checkProcess()
    try checkOutsideSections(toDo: "a barrier")
    if enterBarrierByGate() { return timeout }
    try checkOutsideOwnJob(toDo: "a barrier")
    return try waitForTurn(timeout) { $0.submitBarrier() }
  }

  /// - Returns: whether the barrier is alone in the queue; else it is not in it.
  @inline(__always)
  func enterBarrierByGate() -> Bool {
    guard gate.enterBarrier() else { return false }
    if gate.isEmpty { return true }
    leaveBarrier()
    return false
  }

  @usableFromInline
  func leaveBarrier() {
    guard table.isOfThisProcess else { return }
    if !gate.leaveBarrier() { withOrder { $0.finishBarrier() } }
  }

  @usableFromInline
  func beginBarrier(_ timeout: Duration?) throws(TableError) { try beginBarrier(timeout, .table) }

  /// - Parameter reach: what the barrier may change.
  func beginBarrier(_ timeout: Duration?, _ reach: OwnedReach) throws(TableError) {
    do throws(TableError) {
      try reach.withReach { reach throws(TableError) in try table.beginBarrier(timeout, reach: reach) }
    } catch {
      throw labelled(error)
    }
    if let barrierLabel { table.segment.noteBarrier(barrierLabel) }
  }

  /// - Returns: false with nothing done if it might have to wait.
  func beginBarrierAtOnce() throws(TableError) -> Bool {
    do throws(TableError) { guard try table.beginBarrierAtOnce() else { return false } } catch { throw labelled(error) }
    if let barrierLabel { segment.with { $0.noteBarrier(barrierLabel) } }
    return true
  }

  // MARK: - Waiting

  /// Submits the calling thread, and sleeps until its turn if that has not come.
  /// - Returns: what is left of the timeout.
  private func waitForTurn(
    _ timeout: Duration?, _ submit: (inout SubmissionOrder) -> WaitingThread?
  ) throws(TableError) -> Duration? {
    guard let thread = withOrder(submit) else { return timeout }
    let deadline = Deadline(table.nanoseconds(timeout))
    guard thread.wait(deadline) || !withOrder({ $0.withdraw(thread) }) else {
      throw timedOut(waitingFor: "what was submitted before it")
    }
    return deadline.left
  }
}
