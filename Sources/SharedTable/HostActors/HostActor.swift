/// An actor that is isolated on the whole host: while one of its jobs runs, no other process runs a barrier of the table, nor a job
/// of its own actor over the same table.
///
/// ```swift
/// actor Visits: HostActor {
///   nonisolated let hostExecutor: HostExecutor
///   let count: HostState<Int>
///
///   init(_ table: Table) throws {
///     hostExecutor = HostExecutor(in: table)
///     count = try HostState("visits", in: hostExecutor, default: 0)
///   }
///
///   func visit() throws -> Int {
///     try count += 1
///     return try count.value
///   }
/// }
///
/// let visits = try Visits(table)
/// print(try await visits.visit())
/// ```
/// A job is what an actor runs from one suspension to the next. Each runs inside a barrier of the table: what it changes there
/// becomes visible at its end, all at once, or not at all if its process dies. Jobs that follow each other share a barrier,
/// each with a savepoint. Properties of the actor are its process's own, as ever; what all processes share is a ``HostState``,
/// or is read and changed in a ``hostTransaction(_:)``.
///
/// - An `await` ends the job, and with it the barrier: what the table shows after it, others may have changed meanwhile. This is the
///   reentrancy of every actor, with all processes of the host.
/// - A job holds up the writers of the whole host: keep it short. Where the table is free (RCU variant) it runs in a thread of Dispatch's
///   pool, beside the process's tasks, as any actor's job does. Where it would have to wait for the table, it waits and runs in a
///   thread of the library, so that no task is held up by the wait. It never runs inside the call that makes it ready, a
///   `Task { … }` for example, whose caller may hold a lock. The exception is a child made by `fork()` where the executor has no threads:
///   its jobs run without the table, the first one inside that call and then, one after the other, those made ready meanwhile.
/// - An error that a job throws undoes nothing. What belongs together and may fail goes into a ``hostTransaction(_:)``.
/// - Whoever awaits a call goes on when its job has returned, which may be a millisecond before the barrier is committed: the runtime
///   resumes it from within the job. The actor's next job sees what was changed. Before the change is read past the actor, or
///   acknowledged to somebody who must not lose it if this process dies, await ``HostExecutor/flush()``.
/// - ``hostRun(timeout:_:)`` runs a closure in the isolation instead, and changes no thread where the table is free. It is committed
///   when it returns, or undone if it throws.
/// - A job always runs, or whoever awaits it would wait for ever. If its barrier cannot begin (a process holds the table longer than
///   the executor's timeout, the table is dropped or damaged), it runs without one, isolated in its process only, and its
///   accesses of the table throw why.
///
/// It may be a global actor, too. Several actors over one table may share an executor: they are isolated together then.
///
/// Custom executors are those of SE-0392.
public protocol HostActor: Actor {
  /// Runs its jobs. Made with the actor, and the same as long as that lives.
  nonisolated var hostExecutor: HostExecutor { get }
}

extension HostActor {
  /// For the runtime: ``hostExecutor``.
  nonisolated public var unownedExecutor: UnownedSerialExecutor { unsafe hostExecutor.asUnownedSerialExecutor() }

  /// Reads and changes the table as a part of the job that can fail by itself: if `body` throws, its changes alone are undone,
  /// and the error is rethrown.
  ///
  /// What the job's barrier has stored is shown as of version 0: the next job may change it in the same barrier (``TableEntry/version``).
  /// - Parameter body: gets the transaction, which is valid until it returns.
  /// - Throws: what `body` throws; if the job runs without the table, why, and `body` was not called.
  public func hostTransaction<R: ~Copyable>(_ body: (inout Transaction) throws -> R) throws -> R {
    try hostExecutor.transaction(body)
  }

  /// Runs `body` in the actor's isolation and in one barrier of the table, as `MainActor.run` does for the main actor.
  ///
  /// ```swift
  /// let visit = try await visits.hostRun { visits in try visits.visit() }
  /// ```
  /// A call of an actor's method changes the thread twice. This runs at once on the task's thread if nothing runs or waits in the executor
  /// and nobody on the host holds or awaits the table or a key of it (RCU variant); then it costs about as much as two sets. Else the
  /// task is suspended, and `body` runs when its turn among the actor's jobs has come.
  ///
  /// Other than a job, `body` is all or nothing: if it throws, what it changed in the table is undone. It never runs without the table.
  /// When the call returns, the change is committed: no ``HostExecutor/flush()`` is needed.
  /// - Parameters:
  ///   - timeout: for the wait for the table once its turn has come; nil = the executor's. To limit the wait for the turn, cancel the
  ///     task.
  ///   - body: gets the actor. In it the actor's methods are called without `await`.
  /// - Throws: what `body` throws; what `Table.barrier(timeout:_:)` throws, and then `body` was not called; `CancellationError` if the
  ///   task was cancelled before `body` began.
  @inlinable
  nonisolated(nonsending) public func hostRun<R: Sendable>(
    timeout: Duration? = nil, _ body: @Sendable (isolated Self) throws -> R
  ) async throws -> R {
    let executor = hostExecutor
    // Run again, it would change the actor's own properties twice.
    return try await executor.queue.barrier(timeout: timeout ?? executor.timeout, runsOnce: true) { _ in
      // The executor's jobs are barriers of that queue, too, and those without the table run in its turns: so none runs beside this one.
      try unsafe IsolatedCall { actor, body in try body(actor) }(self, body)
    }
  }
}

extension Table {
  /// Whether the jobs of an actor are barriers of this table, by whatever handle: each of them is a commit.
  func isCommitted(byJobsOf actor: (any Actor)?) -> Bool {
    guard let host = actor as? any HostActor else { return false }
    return host.hostExecutor.table.isSameTable(as: self)
  }
}
