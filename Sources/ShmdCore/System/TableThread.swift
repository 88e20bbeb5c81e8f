import Dispatch
import Glibc
import Synchronization

/// The one thread on which the daemon touches tables.
///
/// A table's reader slot belongs to a thread for life, and an ended thread's slot looks like a killed reader's. The
/// threads of Swift's pool come and go; this one stays. And a wait for a table here, short as it is, keeps no pool
/// thread from serving signals.
final class TableThread: SerialExecutor {
  static let shared = TableThread()

  private let jobs = Mutex<(queue: [UnownedJob], isStarted: Bool)>(([], false))
  private let wakeUp = DispatchSemaphore(value: 0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let needsThread = jobs.withLock { jobs in
      jobs.queue.append(job)
      defer { jobs.isStarted = true }
      return !jobs.isStarted
    }
    if needsThread { startThread() }
    wakeUp.signal()
  }

  private func startThread() {
    var thread = pthread_t()
    let failure = unsafe pthread_create(
      &thread, nil,
      { _ in
        TableThread.shared.run()
        return nil
      }, nil)
    // Without a thread the daemon has no work it could do, now or later.
    guard failure == 0 else { fatalError("shmd cannot start a thread (error \(failure))") }
    pthread_detach(thread)
  }

  private func run() {
    while true {
      wakeUp.wait()
      guard let job = jobs.withLock({ $0.queue.isEmpty ? nil : $0.queue.removeFirst() }) else { continue }
      unsafe job.runSynchronously(on: asUnownedSerialExecutor())
    }
  }
}
