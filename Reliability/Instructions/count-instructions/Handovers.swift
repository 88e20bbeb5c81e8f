import Dispatch
import SharedTable

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
    if operation == .hostActorCall { return try callActor(times) }
    for _ in 0..<times / Self.count { try burst() }
  }

  /// All are submitted before the first begins: so it does not depend on the threads how many share a barrier of the table.
  private func burst() throws {
    queue.suspend()
    for key in keys { try queue.async(flags: .barrier) { tx in try tx.set(key, 1) } }
    queue.resume()
    try queue.flush()
  }

  private func callActor(_ times: Int) throws {
    let actor = try Visits(table)
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      for _ in 0..<times { try await actor.visit() }
      done.signal()
    }
    done.wait()
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
