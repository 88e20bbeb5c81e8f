/// Waiting for all that was submitted.
extension BarrierQueue {
  /// Blocks until everything that was submitted to this queue before has run: barriers are committed, and seen by every section
  /// that begins anywhere on the host (G4).
  ///
  /// It takes a barrier's place in the queue's order, behind `await` forms for which there was no room yet, and opens no section of the
  /// table. When it returns, handlers of ``WorkItem``s may not have been called yet, and a barrier `.barrierWaitingForReaders` may
  /// still be waiting for its readers.
  /// - Parameter timeout: nil = the table's. When it is over, the work goes on.
  /// - Throws: `timedOut` naming the holder; `wouldDeadlock` inside a section of the table on this thread, unless there is nothing
  ///   to wait for; `forked`.
  @available(*, noasync, message: "use `await queue.flush()`")
  public func flush(timeout: Duration? = nil) throws(TableError) {
    try checkProcess()
    if isIdle { return }
    try checkOutsideSections(toDo: "waiting for what was submitted before")
    if order.withLock({ $0.outside.count > 0 }) { return try flushOutside(timeout) }
    _ = try enterBarrier(timeout)
    leaveBarrier()
  }

  /// Waits behind the `await` forms for which there is no room yet, as one of them: in the queue the calling thread would be before them.
  private func flushOutside(_ timeout: Duration?) throws(TableError) {
    let job = Job(self, resultOf: { nil })
    submitPatiently(job)
    if job.wait(Deadline(table.nanoseconds(timeout))) == nil, cancel(job) {
      throw timedOut(waitingFor: "what was submitted before it")
    }
  }

  /// Waits until all work submitted before has ended, while the task is suspended.
  /// - Throws: `CancellationError` if the task is cancelled before its turn; `forked`.
  public func flush() async throws {
    try checkProcess()
    if isIdle { return }
    try await perform(Job(self, resultOf: { nil }), as: Void.self)
  }
}
