import NIOPosix
import SharedTable
import Synchronization

/// The thread that waits for a table's store in the name of all connections: neither the event loop nor a lane does.
final class DiskWatch: Sendable {
  private struct Waiter {
    let client: Int
    let table: Table
    let version: UInt64
    let wake: @Sendable () -> Void
  }

  private struct State {
    /// In the order in which they came. Versions only grow, so the first waits for the least.
    var waiters: [Waiter] = []
    var isRunning = false
    var isStopped = false
  }

  /// After each the thread looks for clients that have given up their wait, and whether the server has ended.
  private static let slice = Duration.milliseconds(100)

  private let state = Mutex(State())
  private let pool = NIOThreadPool(numberOfThreads: 1)

  /// Calls `wake` once, when the table is stored up to `version` or will not be; earlier if somebody else's wait failed.
  func wait(_ client: Int, _ table: Table, _ version: UInt64, wake: @escaping @Sendable () -> Void) {
    let begins = state.withLock { state in
      guard !state.isStopped else { return false }
      state.waiters.append(Waiter(client: client, table: table, version: version, wake: wake))
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard begins else { return }
    pool.start()
    pool.submit { [self] _ in run() }
  }

  /// The client waits no more.
  func cancel(_ client: Int) { state.withLock { $0.waiters.removeAll { $0.client == client } } }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.waiters = []
    }
    pool.shutdownGracefully { _ in }
  }

  private func run() {
    while let first = next() {
      do {
        if try first.table.isDurable(first.version, within: Self.slice) { wake(upTo: first.version) }
      } catch {
        // Each finds out by itself what is wrong with what it waits for.
        wake(upTo: .max)
      }
    }
  }

  private func next() -> (table: Table, version: UInt64)? {
    state.withLock { state in
      guard let first = state.waiters.first else {
        state.isRunning = false
        return nil
      }
      return (first.table, first.version)
    }
  }

  private func wake(upTo version: UInt64) {
    let woken = state.withLock { state in
      let woken = state.waiters.filter { $0.version <= version }
      state.waiters.removeAll { $0.version <= version }
      return woken
    }
    for waiter in woken { waiter.wake() }
  }
}
