/// A job of a ``HostActor``, as an asynchronous barrier.
final class HostJob: BarrierWork, @unchecked Sendable {
  // Sendable because nothing in it changes.
  private let job: UnownedJob
  /// Whoever enqueued it knows the executor without keeping it.
  private let executor: HostExecutor

  init(_ job: UnownedJob, _ executor: HostExecutor, on queue: BarrierQueue, _ timeout: Duration?) {
    self.job = job
    self.executor = executor
    super.init(queue, timeout)
  }

  override func run(_ tx: inout Transaction) -> WorkValue? {
    runSynchronously()
    return nil
  }

  /// Runs the job, with the table's barrier or without.
  func runSynchronously() { unsafe job.runSynchronously(on: executor.asUnownedSerialExecutor()) }

  /// A job always runs. In its queue's turn, so that no other job of the executor runs beside it.
  override func refuse(_ error: TableError) -> WorkResult {
    executor.isolation.runOutside(error) {
      runSynchronously()
      unsafe queue.endIfForked()
    }
    return .success(nil)
  }
}
