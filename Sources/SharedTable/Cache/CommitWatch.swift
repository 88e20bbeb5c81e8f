import Dispatch
import Synchronization

/// Waiting for a commit in the name of tasks: one thread, while there are any.
final class CommitWatch: Sendable {
  private struct Waiter {
    let version: UInt64
    let continuation: CheckedContinuation<Result<Void, TableError>, Never>
  }

  private struct State {
    var waiters: [Waiter] = []
    var runs = false
  }

  private let state = Mutex(State())
  private let table: Table
  private let queue: DispatchQueue

  init(_ table: Table) {
    self.table = table
    queue = DispatchQueue(label: "SharedTable.CommitWatch.\(table.name)")
  }

  /// Suspends until something was committed after `version`, ``Table/deathSlice`` is over, or for no reason.
  func suspend(after version: UInt64) async throws(TableError) {
    let result = await withCheckedContinuation { continuation in
      let starts = state.withLock { state in
        state.waiters.append(Waiter(version: version, continuation: continuation))
        defer { state.runs = true }
        return !state.runs
      }
      if starts { queue.async { @Sendable in self.run() } }
    }
    try result.get()
  }

  private func run() {
    while true {
      let version = table.version
      let waits: Bool? = state.withLock { state in
        if state.waiters.isEmpty {
          state.runs = false
          return nil
        }
        return state.waiters.allSatisfy { $0.version == version }
      }
      guard let waits else { return }
      var result: Result<Void, TableError> = .success(())
      if waits {
        do throws(TableError) {
          _ = try table.waitForCommit(after: version, timeout: Table.deathSlice)
        } catch {
          result = .failure(error)
        }
      }
      let waiters = state.withLock { state in
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter.continuation.resume(returning: result) }
    }
  }
}

extension Table {
  /// How late who waits for another process's doing notices its death, of which no commit tells.
  static var deathSlice: Duration { .milliseconds(100) }
}
