import Dispatch
import Glibc
import Synchronization

/// An actor's executor that is one thread, for work on tables.
///
/// A table's reader slot belongs to a thread for life, and an ended thread's slot looks like a killed reader's. The threads of
/// Swift's pool come and go; this one stays as long as its executor. And a wait for a table here keeps no pool thread from
/// anything.
public final class ThreadExecutor: SerialExecutor {
  private let line: Line
  private let isStarted = Atomic(false)

  /// The actor that a job belongs to keeps the executor as long as there is the job.
  @safe
  private struct Work: Sendable {
    private let job: UnownedJob
    private let executor: UnownedSerialExecutor

    init(_ job: UnownedJob, _ executor: ThreadExecutor) {
      self.job = job
      unsafe self.executor = executor.asUnownedSerialExecutor()
    }

    func run() { unsafe job.runSynchronously(on: executor) }
  }

  /// What executor and thread share: the thread must not keep the executor alive.
  private final class Line: Sendable {
    let name: StaticString
    let jobs = Mutex<(queue: [Work], hasEnded: Bool)>(([], false))
    let wakeUp = DispatchSemaphore(value: 0)

    init(_ name: StaticString) { self.name = name }

    func run() {
      ServiceThread.name(name)
      while true {
        wakeUp.wait()
        let (next, hasEnded) = jobs.withLock { jobs in
          (jobs.queue.isEmpty ? nil : jobs.queue.removeFirst(), jobs.hasEnded)
        }
        if let next { next.run() } else if hasEnded { return }
      }
    }
  }

  /// Starts no thread before there is work.
  /// - Parameter name: the thread's, for people: at most 15 bytes.
  public init(named name: StaticString) { line = Line(name) }

  /// There is no work, and there will be none: the actors are gone.
  deinit {
    line.jobs.withLock { $0.hasEnded = true }
    line.wakeUp.signal()
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let work = Work(UnownedJob(job), self)
    line.jobs.withLock { $0.queue.append(work) }
    if !isStarted.exchange(true, ordering: .relaxed) { start() }
    line.wakeUp.signal()
  }

  private func start() {
    let argument = unsafe Unmanaged.passRetained(line)
    do throws(SystemError) {
      let thread = try unsafe ServiceThread.startJoinable(argument.toOpaque()) { argument in
        unsafe Unmanaged<Line>.fromOpaque(argument!).takeRetainedValue().run()
        return nil
      }
      pthread_detach(thread)
    } catch {
      // Jobs cannot fail, and without a thread none could run, now or later.
      fatalError("cannot start a thread (\(error))")
    }
  }
}
