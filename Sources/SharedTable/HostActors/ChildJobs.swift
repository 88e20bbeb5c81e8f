import SharedMemory

/// Jobs of an executor in a child made by fork(), where its queue has no threads. The thread that makes the first job ready runs it, and
/// after it the jobs that it or other threads make ready meanwhile.
final class ChildJobs: Sendable {
  private struct State {
    var isRunning = false
    var jobs: [HostJob] = []
    var failure: TableError?
  }

  private let state = ForkSafeState(State()) { _ in State() }

  /// Why the job that runs has no barrier; nil if none runs.
  var failure: TableError? {
    state.withLock { $0.failure }
  }

  /// - Returns: whether the calling thread is to run what ``next(_:)`` gives; else another thread, or a caller of this one, already does.
  func add(_ job: HostJob) -> Bool {
    state.withLock { state in
      state.jobs.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
  }

  /// The next job to run; nil if there is none, and then the caller is to run no more.
  /// - Parameter error: why it has no barrier.
  func next(_ error: TableError) -> HostJob? {
    state.withLock { state in
      state.isRunning = !state.jobs.isEmpty
      state.failure = state.isRunning ? error : nil
      return state.isRunning ? state.jobs.removeFirst() : nil
    }
  }
}
