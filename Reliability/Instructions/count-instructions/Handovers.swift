import Dispatch
import SharedTable
import Synchronization

/// Work that other threads do: barriers of a queue, and an actor's jobs.
struct Handovers {
  private let table: Table
  private let queue: BarrierQueue
  private let keys = (100..<100 + Self.count).map { "element-\($0)" }

  private static let count = 400

  init(_ table: Table) throws {
    self.table = table
    queue = try BarrierQueue(in: table, label: "org.example.counts")
    for key in keys { try table.set(key, 1) }
  }

  func run(_ operation: Operation, times: Int) throws {
    switch operation {
    case .hostActorCall: try callActor(times)
    case .hostRun: try runInActor(times)
    case .awaitRead: try awaitReads(times)
    case .awaitBarrier: try awaitBarriers(times)
    default: for _ in 0..<times / Self.count { try burst() }
    }
  }

  /// All are submitted before the first begins: so it does not depend on the threads how many share a barrier of the table.
  private func burst() throws {
    queue.suspend()
    for key in keys { try queue.async(flags: .barrier) { tx in try tx.set(key, 1) } }
    queue.resume()
    try queue.flush()
  }

  private func awaitReads(_ times: Int) throws {
    let (queue, keys) = (queue, keys)
    try inTask {
      for _ in 0..<times / Self.count {
        for key in keys { _ = try await queue.read { view in try view.get(key, as: Int.self) } }
      }
    }
  }

  private func awaitBarriers(_ times: Int) throws {
    let (queue, keys) = (queue, keys)
    try inTask {
      for _ in 0..<times / Self.count {
        for key in keys { try await queue.barrier { tx in try tx.set(key, 1) } }
      }
    }
  }

  private func callActor(_ times: Int) throws {
    let actor = try Visits(table)
    try inTask { for _ in 0..<times { try await actor.visit() } }
  }

  private func runInActor(_ times: Int) throws {
    let actor = try Visits(table)
    try inTask { for _ in 0..<times { try await actor.hostRun { actor in try actor.visit() } } }
  }

  /// Runs `body` in a task, while this thread sleeps.
  private func inTask(_ body: @escaping @Sendable () async throws -> Void) throws {
    let done = DispatchSemaphore(value: 0)
    let failure = Mutex<(any Error)?>(nil)
    Task.detached {
      do { try await body() } catch { failure.withLock { $0 = error } }
      done.signal()
    }
    done.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}

private actor Visits: HostActor {
  nonisolated let hostExecutor: HostExecutor
  private let count: HostState<Int>

  init(_ table: Table) throws {
    hostExecutor = HostExecutor(in: table)
    count = try HostState("visits", in: hostExecutor, default: 0)
  }

  func visit() throws { try count.set(1) }
}
