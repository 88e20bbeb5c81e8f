import SharedMemory
import Synchronization

/// Jobs of an executor in a child made by fork(), where its queue has no threads. The thread that makes the first job ready runs it, and
/// after it the jobs that it or other threads make ready meanwhile.
final class ChildJobs: Sendable {
  private struct State {
    /// Nil before the first job.
    var forkGeneration: ForkGeneration?
    var isRunning = false
    var jobs: [HostJob] = []
    var failure: TableError?
  }

  private let state = Mutex(State())

  /// So that a child inherits the lock free.
  private func withState<R>(_ body: (inout State) -> R) -> R {
    ForkLock.hold { state.withLock { body(&$0) } }
  }

  /// Why the job that runs has no barrier; nil if none runs.
  var failure: TableError? {
    withState { $0.forkGeneration == ForkGeneration() ? $0.failure : nil }
  }

  /// - Returns: whether the calling thread is to run what ``next(_:)`` gives; else another thread, or a caller of this one, already does.
  func add(_ job: HostJob) -> Bool {
    // Dropped after the lock: the last reference to a segment, whose end takes ForkLock itself.
    var ofParent = State()
    defer { withExtendedLifetime(ofParent) {} }
    return withState { state in
      let generation = ForkGeneration()
      if state.forkGeneration != generation {
        swap(&ofParent, &state)
        state.forkGeneration = generation
      }
      state.jobs.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
  }

  /// The next job to run; nil if there is none, and then the caller is to run no more.
  /// - Parameter error: why it has no barrier.
  func next(_ error: TableError) -> HostJob? {
    withState { state in
      state.isRunning = !state.jobs.isEmpty
      state.failure = state.isRunning ? error : nil
      return state.isRunning ? state.jobs.removeFirst() : nil
    }
  }
}
