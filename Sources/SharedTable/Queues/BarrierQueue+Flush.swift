/// Waiting for all that was submitted.
extension BarrierQueue {
  /// Blocks until everything that was submitted to this queue before has run: barriers are committed, and seen by every section
  /// that begins anywhere on the host (G4).
  ///
  /// It takes a barrier's place in the queue's order, and opens no section of the table. When it returns, handlers of ``WorkItem``s may
  /// not have been called yet, and a barrier `.barrierWaitingForReaders` may still be waiting for its readers.
  /// - Parameter timeout: nil = the table's. When it is over, the work goes on.
  /// - Throws: `timedOut` naming the holder; `wouldDeadlock` inside a section of the table on this thread, unless there is nothing
  ///   to wait for; `forked`.
  @available(*, noasync, message: "use `await queue.flush()`")
  public func flush(timeout: Duration? = nil) throws(TableError) {
    try checkProcess()
    if isIdle { return }
    try checkOutsideSections(toDo: "waiting for what was submitted before")
    _ = try enterBarrier(timeout)
    leaveBarrier()
  }

  /// The same, while the task is suspended.
  /// - Throws: `CancellationError` if the task is cancelled before its turn; `forked`.
  public func flush() async throws {
    try checkProcess()
    if isIdle { return }
    try await perform(Job(self, resultOf: { nil }), as: Void.self)
  }
}
