import Dispatch
import Glibc
import SharedMemory

/// Does at `exit` what was submitted asynchronously: `main` may return before the lanes have come to it.
///
/// Every queue that was ever given asynchronous work is known here until it ends: what is under way holds its queue. A handler of
/// `exit(3)` waits for each, at most as long as its table's timeout, counted from the handler's begin; of a suspended one, for
/// what has begun. What cannot be done is said in one line a queue. Then it waits until those who want to know have been told
/// what became of the work, so that no failure goes unsaid; for five seconds at most, since what is told may be a closure of
/// the program's. The other threads, and so the lanes, run on while handlers of `exit` run.
enum ExitFlush {
  /// What the exit handler knows of a queue: its order, counted, and its address, not counted, since a queue takes its entry out before it
  /// is gone. An object that is referred to weakly has its references counted by a detour, each time at ten times the cost.
  @safe
  private struct Entry {
    private let order: Locked<SubmissionOrder>
    private let queue: Unmanaged<BarrierQueue>

    init(_ queue: BarrierQueue) {
      order = queue.order
      unsafe self.queue = Unmanaged.passUnretained(queue)
    }

    /// The queue, counted, if it has asynchronous work that has not begun, or runs.
    ///
    /// A queue with such work is held by one of those that ``Work/queue`` lists until the work is taken out of the order, under the
    /// order's lock. So it is counted under that lock, and not before: its end may have begun. Nor does the handler, which has the
    /// registry locked, give any count of it back: a queue whose last count that is would end here, and its end waits for the registry.
    var busy: BarrierQueue? {
      let held = unsafe order.withLock { order in unsafe order.pendingWorkCount > 0 ? queue.retain() : nil }
      return unsafe held?.takeRetainedValue()
    }
  }

  private struct Registry {
    let forkGeneration = ForkGeneration()
    let entries = Locked<[ObjectIdentifier: Entry]>([:])
  }

  /// Entered by lanes whose queue has moved on, left once they have told of the outcomes.
  static let telling = DispatchGroup()

  /// Made with the first queue that is registered, and with it the handler.
  private static let registry: Registry = {
    atexit { ExitFlush.run() }
    return Registry()
  }()

  /// A queue is about to be given asynchronous work.
  static func register(_ queue: BarrierQueue) {
    registry.entries.withLock { entries in
      entries[ObjectIdentifier(queue)] = Entry(queue)
      // Under the lock, so that no thread submits work, by this flag, to a queue that the exit handler will not find: the handler waits for the
      // lock. Relaxed for the same reason.
      queue.isFlushedAtExit.store(true, ordering: .relaxed)
    }
  }

  /// Forgets a queue; called by its end.
  static func forget(_ queue: BarrierQueue) {
    guard isOfThisProcess else { return }
    registry.entries.withLock { $0[ObjectIdentifier(queue)] = nil }
  }

  /// In a child that was forked since, the lock may be locked for ever, and the lanes are not there.
  private static var isOfThisProcess: Bool { registry.forkGeneration.isOfThisProcess }

  /// The registered queues that have asynchronous work. Does not wait for it.
  fileprivate static func busyQueues() -> [BarrierQueue] {
    registry.entries.withLock { entries in entries.values.compactMap(\.busy) }
  }

  private static func run() {
    guard isOfThisProcess else { return }
    let begin = HostClock.monotonicNanoseconds
    for queue in busyQueues() { queue.flushAtExit(since: begin) }
    // A handler that is told, or a closure on a lane, may have ended the process: it would wait for itself.
    if FailureReport.isTelling { return }
    let deadline = Deadline(Table.defaultTimeout)
    if !WorkerPool.isOnLane { _ = telling.wait(timeout: deadline.dispatchTime) }
    // After the lanes, which add to these.
    _ = FailureReport.telling.wait(timeout: deadline.dispatchTime)
  }
}

extension BarrierQueue {
  /// How many queues a handler of `exit` would wait for now: for tests.
  package static var countBusyAtExit: Int { ExitFlush.busyQueues().count }

  fileprivate func flushAtExit(since begin: UInt64) {
    guard table.isOfThisProcess, pendingCount > 0 else { return }
    let subject = subject ?? "table '\(table.name)'"
    let spent = HostClock.monotonicNanoseconds &- begin
    let timeout = table.timeoutNanoseconds
    let deadline = Deadline(timeout > spent ? timeout - spent : 0)
    if hasSuspensions { awaitTurns(deadline) }
    // What had begun may have resumed it.
    if hasSuspensions {
      let left = pendingCount
      if left == 0 { return }
      return FailureReport.write(
        "\(subject): the process ends while it is suspended, and \(left) asynchronous items were not done")
    }
    do throws(TableError) {
      try flush(timeout: deadline.left)
    } catch {
      FailureReport.write(
        "\(subject): the process ends, and \(pendingCount) asynchronous items were not done: \(error)")
    }
  }

  /// Sleeps until what has begun in a suspended queue has ended. Not in a section of the table, for which it may be waiting.
  private func awaitTurns(_ deadline: Deadline) {
    guard table.segment.threadSection == .none, let thread = withOrder({ $0.awaitTurns() }) else { return }
    _ = thread.wait(deadline)
  }
}
