import Dispatch
import Glibc
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// What queues cost in threads and memory.
@Suite(.serialized) struct CostTests {
  @Test func idleQueuesCostLittleMemory() throws {
    try withTable(.rcu) { table throws in
      let worker = try worker(table)
      let answer = try worker.ask("queue-memory 10000").split(separator: " ").compactMap { Int($0) }
      print("bytes a queue, of resident memory: \(answer[0]) made, \(answer[1]) used")
      // A sanitizer's own memory is not ours.
      if getenv("SHAREDTABLE_SANITIZE") == nil { #expect(answer[0] < 4096 && answer[1] < 4096) }
    }
  }

  @Test func askingAgainAndAgainTakesNoMemory() throws {
    try withTable(.rcu) { table throws in
      let bytes = try #require(Int(try worker(table).ask("queue-poll 100000")))
      // Less than an object for each time.
      if getenv("SHAREDTABLE_SANITIZE") == nil { #expect(bytes < 1 << 20) }
    }
  }

  /// A process of its own: here other tests have threads too.
  @Test func manyBusyQueuesShareFewThreads() throws {
    try withTable(.rcu) { table throws in
      let worker = try worker(table)
      let answer = try worker.ask("queue-threads 500").split(separator: " ").compactMap { Int($0) }
      print(
        "threads of a process: \(answer[0]) before, \(answer[1]) with 1000 idle queues, at most \(answer[2]) with 500 busy ones"
      )
      #expect(answer[1] == answer[0], "idle queues cost no threads")
      // The lanes at work, those that wait for the table, and Dispatch's own, which stay for a moment when a lane ends: on a busy machine as many
      // again. If each turn that comes back began a lane, it would be 170 and more.
      #expect(answer[2] <= answer[0] + 6 * WorkerPool.shared.limit)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aQueueThatWaitsDoesNotHoldUpTheOthers(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try withTable(variant) { held throws in
        let other = try worker(held)
        try other.ask("barrier", expecting: "in")
        let waiting = try BarrierQueue(in: held, label: "org.example.waiting")
        let stuck = try (0..<20).map { _ in try waiting.async(flags: .barrier, timeout: .seconds(600)) { _ in } }
        let queue = try BarrierQueue(in: table, label: "org.example.test")
        #expect(try queue.async(flags: .barrier) { tx in try tx.increment("n") }.wait(timeout: .seconds(600)) == 1)
        try other.ask("commit", expecting: "ok")
        for item in stuck { try item.wait(timeout: .seconds(600)) }
      }
    }
  }
}
