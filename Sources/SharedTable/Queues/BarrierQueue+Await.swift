public import TableEngine

/// Sections from asynchronous code. They suspend and never block the task's thread; the closures stay synchronous, so no section ever spans a
/// suspension.
extension BarrierQueue {
  /// Runs `body` on one snapshot, after all barriers submitted to this queue before.
  ///
  /// In the RCU variant, with no barrier pending, the closure runs at once on the task's thread: nothing there waits.
  /// Else on one of the queue's threads. While the queue is full this suspends, and has its place in the order from the
  /// moment when there is room.
  /// - Parameters:
  ///   - timeout: for the wait for the table once its turn has come; nil = the table's. To limit the wait for
  ///     the turn, cancel the task.
  ///   - body: gets the view, which is valid until it returns.
  /// - Throws: what `body` and ``Table/read(timeout:_:)`` throw; `CancellationError` if the task was cancelled before
  ///   the closure began. What has begun runs to its end and gives its result.
  @inlinable
  nonisolated(nonsending) public func read<R: Sendable>(
    timeout: Duration? = nil, _ body: @Sendable (borrowing ReadView) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    if let result = try readAtOnce(body) { return result }
    // Lent, as in `barrier`.
    return try await withoutActuallyEscaping(body) { body in
      let work = LentRead(self, timeout) { view in WorkValue.of(try body(view)) }
      defer { work.giveBack() }
      return try await perform(work)
    }
  }

  /// Runs `body` alone on the whole host, after everything submitted to this queue before.
  ///
  /// In the RCU variant, when nothing runs in the queue and nobody on the host holds or awaits the table or a key of it, the
  /// closure runs at once on the task's thread: nothing there waits. Else on one of the queue's threads. While the queue is
  /// full this suspends, and has its place in the order from the moment when there is room. When it returns, every section
  /// that begins anywhere on the host sees the changes (G4). A closure that finds no room in the table (`full`) in a barrier with others is
  /// undone and run once more, alone: it must have no effects outside the transaction. What the barrier has stored, it shows as of version 0:
  /// see ``TableEntry/version``.
  /// - Parameters:
  ///   - waitingForReaders: whether it returns only when no read section is left that began before its commit, as
  ///     `Table.barrier(waitingForReaders:timeout:_:)` does.
  ///   - timeout: for the wait for the table once its turn has come; nil = the table's. To limit the wait for
  ///     the turn, cancel the task.
  ///   - body: gets the transaction, which is valid until it returns.
  /// - Throws: what `body` and `Table.barrier(timeout:_:)` throw; `CancellationError` if the task was cancelled
  ///   before the closure began, or before it was run again. Otherwise what has begun runs to its end, is committed and gives its result.
  @inlinable
  nonisolated(nonsending) public func barrier<R: Sendable>(
    waitingForReaders: Bool = false, timeout: Duration? = nil,
    _ body: @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    try await barrier(waitingForReaders: waitingForReaders, timeout: timeout, runsOnce: false, body)
  }

  /// - Parameter runsOnce: `body` is never undone and run again.
  @inlinable
  nonisolated(nonsending) func barrier<R: Sendable>(
    waitingForReaders: Bool = false, timeout: Duration?, runsOnce: Bool,
    _ body: @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    if !waitingForReaders, try enterBarrierAtOnce() {
      defer { leaveBarrier() }
      return try table.runBarrier(isShared: true, body)
    }
    // Nearly every call ran above. Only here another thread may call the closure, so it is lent; a parameter that escapes would cost each
    // call an object in memory.
    return try await withoutActuallyEscaping(body) { body in
      let work = LentBarrier(self, timeout, waitsForReaders: waitingForReaders, runsOnce: runsOnce) { tx in
        WorkValue.of(try body(&tx))
      }
      defer { work.giveBack() }
      return try await perform(work)
    }
  }

  /// - Returns: nil if its turn has not come, or it might have to wait for the table.
  @inlinable
  func readAtOnce<R: Sendable>(_ body: (borrowing ReadView) throws -> R) throws -> R? {
    // In a job of a host actor over the table its barrier is in the way; it ends when the task suspends.
    guard runsAtOnce, segment.with({ $0.threadSection }) == .none,
      let stripe = gate.enter(thread: segment.with { $0.threadNumber })
    else {
      return nil
    }
    let pass = ReadPass(stripe: stripe, timeout: nil)
    defer { leaveRead(pass) }
    return try table.run(try beginRead(nil), body)
  }

  /// - Returns: false with nothing done if its turn has not come, or it might have to wait for the table; else it is in the
  ///   table's barrier.
  @usableFromInline
  func enterBarrierAtOnce() throws(TableError) -> Bool {
    guard runsAtOnce else { return false }
    try checkProcess()
    guard enterBarrierByGate() || withOrder({ $0.beginBarrierIfFree() }) else { return false }
    do throws(TableError) {
      if try beginBarrierAtOnce() { return true }
    } catch {
      leaveBarrier()
      throw error
    }
    leaveBarrier()
    return false
  }

  /// - Returns: the work's result, which is of that type.
  @usableFromInline
  nonisolated(nonsending) func perform<R: Sendable>(_ work: Work, as type: R.Type = R.self) async throws -> R {
    do throws(TableError) {
      try checkAsynchrony()
    } catch {
      // A read that turned back at the gate goes no further: a barrier that waits may have seen it counted there. In a child the order is the
      // parent's if the queue is.
      if error.code != .forked { withOrder { $0.proceed() } }
      throw error
    }
    return try await withTaskCancellationHandler {
      submitPatiently(work)
      return try await work.value()
    } onCancel: {
      _ = cancel(work)
    }
  }

  /// Submits now or, if the queue is full, when there is room.
  func submitPatiently(_ work: Work) {
    withOrder { order in
      // Cancelled on the way here.
      guard work.place == .new else { return }
      if order.hasRoom { order.submit(work) } else { order.submitOutside(work) }
    }
  }
}
