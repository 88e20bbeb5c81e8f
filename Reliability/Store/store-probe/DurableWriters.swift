import Dispatch
import SharedTable
import Synchronization
import TestSupport

/// Writers of one table, each of which stores one key after the other and waits until it is on the disk.
struct DurableWriters {
  let table: Table
  let count: Int
  /// Of all of them together.
  let barriers: Int
  let value: [UInt8]

  private var each: Int { barriers / count }

  /// Barriers a second of threads, which block.
  func rateOfThreads() throws -> Double {
    try rate {
      let threads = (0..<count).map { writer in
        TestThread {
          for round in 0..<each {
            try table.set(key(writer, round), value)
            try table.waitUntilDurable(table.version)
          }
        }
      }
      for thread in threads { try thread.join() }
    }
  }

  /// Barriers a second of tasks, which are suspended.
  func rateOfTasks() throws -> Double {
    let outcome = Outcome()
    let rate = rate {
      let done = DispatchSemaphore(value: 0)
      Task.detached {
        do { try await runTasks() } catch { outcome.error.withLock { $0 = error } }
        done.signal()
      }
      done.wait()
    }
    if let error = outcome.error.withLock({ $0 }) { throw error }
    return rate
  }

  private final class Outcome: Sendable {
    let error = Mutex<(any Error)?>(nil)
  }

  private func runTasks() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<count {
        group.addTask {
          for round in 0..<each {
            try await table.barrier(durable: true) { tx in try tx.set(key(writer, round), value) }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private func key(_ writer: Int, _ round: Int) -> String { "key:\(writer * each + round)" }

  private func rate(_ body: () throws -> Void) rethrows -> Double {
    Double(each * count) / (try microseconds(body)) * 1_000_000
  }
}
