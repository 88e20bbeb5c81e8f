import Synchronization
import TableEngine

/// Runs the jobs of ``HostActor``s one after the other, each inside a barrier of a table.
///
/// Jobs run in the order in which they become ready. May be used from any thread.
public final class HostExecutor: SerialExecutor {
  /// The table whose barriers the jobs run in.
  public let table: Table
  @usableFromInline let timeout: Duration?
  /// Each job is a barrier of it.
  @usableFromInline package let queue: BarrierQueue
  let isolation: HostIsolation
  private let childJobs = ChildJobs()

  /// How often a job could not have the table, each new attempt counted: for tests.
  package var refusals: Int { isolation.refusals }

  /// A job waits in a lane for the table: for tests.
  package var isWaitingInLane: Bool { queue.turnsWaiting > 0 }

  /// How many jobs and closures wait behind another one: for tests.
  package var waitingCount: Int { queue.waitingCount }

  /// The calling thread is a lane, as those of queues: for tests.
  package static var isOnLane: Bool { WorkerPool.isOnLane }

  /// Makes an executor; takes no thread and nothing of the table.
  /// - Parameters:
  ///   - table: where the jobs' barriers are. An observer's jobs all run without one.
  ///   - timeout: for a job's wait for the table; nil = the table's.
  public init(in table: Table, timeout: Duration? = nil) {
    self.table = table
    self.timeout = timeout
    isolation = HostIsolation(of: table)
    queue = BarrierQueue(in: table, subject: "a host actor", triesInPool: true)
  }

  /// Suspends until what was changed by the jobs that have returned is committed: every section that begins anywhere on the host
  /// then sees it (G4), and it stays if this process dies. At once if no job is under way.
  /// - Throws: `CancellationError` if the task is cancelled before; `forked`.
  public func flush() async throws { try await queue.flush() }

  /// For the runtime: has the job run when its turn comes. Never blocks.
  public func enqueue(_ job: consuming ExecutorJob) {
    let work = HostJob(UnownedJob(job), self, on: queue, timeout)
    do throws(TableError) {
      try queue.checkAsynchrony()
      queue.submitPatiently(work)
    } catch {
      runInChild(work, error)
    }
  }

  /// In a child made by fork(), where the queue has no threads: runs a job without the table, or leaves it to the one that runs.
  ///
  /// No lock is held meanwhile that the job may want. Of the parent's executor none is taken either: another thread may have held it as
  /// the child was forked.
  private func runInChild(_ work: HostJob, _ error: TableError) {
    guard childJobs.add(work) else { return }
    while let job = childJobs.next(error) {
      // `runOutside` waits until a barrier of this process has ended. If it is this thread's own, the thread would wait for itself.
      if !table.isOfThisProcess || table.segment.isInWholeBarrier {
        isolation.runAsOutsider { job.runSynchronously() }
      } else {
        isolation.runOutside(error) { job.runSynchronously() }
      }
    }
  }

  /// For the runtime. Keeps nothing: whoever uses it keeps the executor.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }

  /// True in jobs, and in every barrier of the whole table on its thread: so `assumeIsolated` works in a closure of
  /// `Table.barrier(timeout:_:)` or ``BarrierQueue/sync(flags:timeout:_:)-(BarrierFlags,_,_)``.
  ///
  /// In such a barrier it waits for a job that runs without the table, at most as long as a job waits for the table, and answers false then:
  /// `assumeIsolated` ends the program, and the next writer undoes its barrier.
  public func isIsolatingCurrentContext() -> Bool? {
    if isolation.isOutsider { return true }
    guard let version = queue.versionOfOwnBarrier else { return false }
    return isolation.assume(inBarrier: version, Deadline(table.nanoseconds(timeout)))
  }

  /// Traps outside of a job, for runtimes that do not ask ``isIsolatingCurrentContext()``.
  public func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "not in a job of the host actor, nor in a barrier of its table")
  }

  /// In a job, or in a barrier of the whole table. If `body` throws, what it changed is undone.
  /// - Throws: what `body` throws; why a job has no barrier; `invalid` elsewhere.
  @inlinable
  func transaction<R: ~Copyable>(_ body: (inout Transaction) throws -> R) throws -> R {
    try checkInBarrier()
    return try table.runWithSavepoint(body)
  }

  /// In a job, or in a barrier of the whole table, without undoing anything: for what changes nothing if it throws.
  @inlinable
  func access<R: ~Copyable>(_ body: (inout Transaction) throws -> R) throws -> R {
    try checkInBarrier()
    return try table.runUndivided(body)
  }

  @usableFromInline
  func checkInBarrier() throws(TableError) {
    if isolation.isOutsider, let failure = childJobs.failure { throw failure }
    // Before the lock: another thread may have held it as this process was forked.
    guard queue.segment.with({ $0.isOfThisProcess }) else { throw table.named(.forked) }
    if isolation.isOutsider, let failure = isolation.failure { throw failure }
    guard queue.segment.with({ $0.isInWholeBarrier }) else {
      throw TableError(
        .invalid, table: table.name,
        "a host actor's state can be used in the actor's jobs and in barriers of the whole table only; use it in a method of the actor"
      )
    }
  }
}
