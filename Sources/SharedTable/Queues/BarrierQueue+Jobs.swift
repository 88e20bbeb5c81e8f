/// Jobs, for queues that the library makes for itself.
extension BarrierQueue {
  /// Runs `body` after everything that was submitted before, and returns at once.
  /// - Throws: `queueFull`, `forked`, `unsupported`; nothing was submitted then.
  func submitJob(_ body: @escaping @Sendable () -> Void) throws(TableError) {
    try submit(
      Job(self) { _ in
        body()
        return {}
      })
  }

  /// As ``submitJob(_:)``, with a `body` that gives what to call once the queue has moved on. If the queue is full, blocks until it is empty.
  /// - Throws: as ``waitUntilEmpty(timeout:)``, too.
  func submitJobBlocking(_ body: @escaping @Sendable () -> Announcement) throws(TableError) {
    let job = Job(self) { _ in body() }
    while true {
      do throws(TableError) { return try submit(job) } catch { guard error.code == .queueFull else { throw error } }
      try waitUntilEmpty(timeout: nil)
    }
  }

  /// Runs `body` after everything that was submitted before, and suspends until it has run. Cancelling the task does not take it out: the task
  /// always learns what became of it.
  func runJob<R: Sendable>(_ body: @escaping @Sendable () throws(TableError) -> R) async throws -> R {
    try checkAsynchrony()
    let job = Job(self, resultOf: { WorkValue.of(try body()) })
    submitPatiently(job)
    return try await job.value()
  }

  /// As ``runJob(_:)``, unless the task is cancelled before the job begins: then the job is taken out, and has done nothing.
  /// - Throws: `CancellationError` then; what `body` throws.
  nonisolated(nonsending) func runJobUnlessCancelled<R: Sendable>(
    _ body: @escaping @Sendable () throws(TableError) -> R
  ) async throws -> R {
    try await perform(Job(self, resultOf: { WorkValue.of(try body()) }))
  }

  /// As ``runJobUnlessCancelled(_:)``; a job whose turn has not come by the deadline ends with `timedOut`, and is not done later.
  nonisolated(nonsending) func runJobUnlessCancelled<R: Sendable>(
    beginningBy deadline: Deadline, _ body: @escaping @Sendable () throws -> R
  ) async throws -> R {
    try await perform(Job(self, resultOf: { WorkValue.of(try body()) }), beginningBy: deadline)
  }

  /// As ``runJob(_:)``, in a read's place, beside other reads.
  /// - Parameter body: gets how long it may wait for the table; the time in the queue counts.
  func runReadJob<R: Sendable>(
    _ body: @escaping @Sendable (_ timeoutNanoseconds: UInt64) throws(TableError) -> R
  ) async throws -> R {
    try checkAsynchrony()
    let deadline = Deadline(table.timeoutNanoseconds)
    let job = Job(self, .read, resultOf: { WorkValue.of(try body(deadline.leftNanoseconds)) })
    submitPatiently(job)
    return try await job.value()
  }

  /// Blocks until everything that was submitted before has ended.
  /// - Throws: `timedOut`; `wouldDeadlock` inside a section of the table, unless there is nothing to wait for; `forked`.
  func waitUntilEmpty(timeout: Duration?) throws(TableError) {
    try checkProcess()
    guard isClosed else { return }
    try checkOutsideSections(toDo: "waiting for what was submitted before")
    _ = try enterBarrier(timeout)
    leaveBarrier()
  }

  /// Runs `body` on the calling thread when it is a read's turn; it opens its own section.
  /// - Parameter body: gets how long it may still wait.
  /// - Throws: as ``sync(timeout:_:)``.
  func withReadTurn<R>(_ timeout: Duration?, _ body: (Duration?) throws -> R) throws -> R {
    let pass = try enterRead(timeout)
    defer { leaveRead(pass) }
    return try body(pass.timeout)
  }

  /// Runs `body` on the calling thread when it is a barrier's turn; it opens its own barrier.
  func withBarrierTurn<R>(_ timeout: Duration?, _ body: (Duration?) throws -> R) throws -> R {
    let timeout = try enterBarrier(timeout)
    defer { leaveBarrier() }
    return try body(timeout)
  }
}
