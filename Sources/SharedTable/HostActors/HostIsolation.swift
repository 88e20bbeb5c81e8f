import Glibc
import Synchronization

/// Keeps a job that runs without the table from running beside a barrier of this process that is taken for the executor's isolation:
/// the two would touch the actor's own properties at once.
final class HostIsolation: Sendable {
  private let table: Table
  private let state = Locked(State())
  /// The thread that runs a job without the table; 0 if none does. Who finds its own number has stored it itself, so relaxed is
  /// enough.
  private let outsider = Atomic<UInt>(0)
  private let refused = Atomic(0)

  private struct State {
    /// The newest version whose barrier was taken for the isolation.
    var assumedVersion: UInt64 = 0
    /// Why the job that runs without the table has no barrier; nil if none does.
    var failure: TableError?
  }

  init(of table: Table) { self.table = table }

  // MARK: - Barriers that are taken for the isolation

  /// No job begins without the table then before this barrier has ended. Waits for one that runs without the table.
  /// - Returns: false if such a job had not ended by the deadline.
  func assume(inBarrier version: UInt64, _ deadline: Deadline) -> Bool {
    while !state.withLock({ state in
      guard state.failure == nil else { return false }
      state.assumedVersion = version
      return true
    }) {
      if deadline.isPast { return false }
      usleep(1000)
    }
    return true
  }

  // MARK: - Jobs without the table

  /// The calling thread runs a job without the table.
  var isOutsider: Bool { outsider.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Why the job that runs without the table has no barrier.
  var failure: TableError? { state.withLock(\.failure) }

  /// How often a job could not have the table, each new attempt counted: for tests.
  var refusals: Int { refused.load(ordering: .relaxed) }

  /// Runs a job without the table, when a barrier of this process that was taken for the isolation has ended.
  func runOutside(_ error: TableError, _ job: () -> Void) {
    while !beginOutside(error) { usleep(1000) }
    runAsOutsider(job)
    // The child that a job has made, and that returns from it, leaves the lock alone: another thread may have held it at the fork.
    if table.isOfThisProcess { state.withLock { $0.failure = nil } }
  }

  /// As ``runOutside(_:_:)``, but waits for no barrier and takes no lock: for a child made by fork, where the calling thread may be in the
  /// barrier, and a thread that stayed in the parent may have held the lock.
  func runAsOutsider(_ job: () -> Void) {
    outsider.store(UInt(pthread_self()), ordering: .relaxed)
    job()
    outsider.store(0, ordering: .relaxed)
  }

  private func beginOutside(_ error: TableError) -> Bool {
    refused.wrappingAdd(1, ordering: .relaxed)
    return state.withLock { state in
      // Ended: committed, or W is another process's or nobody's.
      guard state.assumedVersion <= table.version || !table.segment.isWriter(getpid()) else { return false }
      state.failure = error
      return true
    }
  }
}
