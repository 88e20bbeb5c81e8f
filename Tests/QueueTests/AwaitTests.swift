import Glibc
import SharedTable
import TestSupport
import Testing

/// The forms for asynchronous code.
@Suite struct AwaitTests {
  @Test(arguments: Table.Variant.allCases) func sectionsGiveResultsAndErrors(_ variant: Table.Variant) async throws {
    try await withQueue(variant) { queue async throws in
      #expect(try await queue.barrier { tx in try tx.increment("n") } == 1)
      #expect(try await queue.read { view in try view.get("n", as: Int.self) } == 1)
      #expect(try await queue.read { view in try view.get("absent", as: Int.self) } == nil)
      await #expect(throws: Refusal.self) {
        try await queue.barrier { tx in
          try tx.set("n", 100)
          throw Refusal()
        }
      }
      await #expect(throws: Refusal.self) { try await queue.read { _ in throw Refusal() } }
      #expect(try await queue.read { view in try view.get("n", as: Int.self) } == 1)
      let item = try queue.async(flags: .barrier) { tx in try tx.increment("n") }
      #expect(try await queue.read { view in try view.get("n", as: Int.self) } == 2, "it sees the barrier before it")
      #expect(try await item.value == 2)
      #expect(try await queue.barrier(flags: [.barrier, .waitForReaders]) { tx in try tx.increment("n") } == 3)
    }
  }

  @Test(arguments: Table.Variant.allCases) func manyTasksLoseNothing(_ variant: Table.Variant) async throws {
    try await withQueue(variant, limit: 8) { queue async throws in
      // More than there is room for: some wait outside.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<200 {
          group.addTask { _ = try await queue.barrier { tx in try tx.increment("n") } }
          group.addTask { _ = try await queue.read { view in try view.get("n", as: Int.self) } }
        }
        try await group.waitForAll()
      }
      #expect(try queue.table.get("n") == 200)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aTaskCancelledBeforeItsTurnNeverEntersItsSection(
    _ variant: Table.Variant
  ) async throws {
    try await withQueue(variant, limit: 1) { queue async throws in
      let (inside, leave) = (Door(), Door())
      let running = Task {
        try await queue.barrier { tx in
          inside.open()
          leave.wait()
          return try tx.increment("n")
        }
      }
      while !inside.isOpen { await Task.yield() }
      // One waits inside the queue, the others outside: there is room for one.
      let waiting = (0..<3).map { _ in Task { try await queue.barrier { tx in try tx.increment("n", by: 100) } } }
      let reading = Task { try await queue.read { _ in Issue.record("it must not run") } }
      for task in waiting { task.cancel() }
      reading.cancel()
      for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
      await #expect(throws: CancellationError.self) { try await reading.value }
      running.cancel()
      leave.open()
      #expect(try await running.value == 1, "what has begun runs to its end")
      #expect(try queue.table.get("n") == 1)
    }
  }

  @Test func aCancelledTaskSubmitsNothing() async throws {
    try await withQueue(.rcu) { queue async throws in
      let start = Door()
      let task = Task {
        while !start.isOpen { await Task.yield() }
        await #expect(throws: CancellationError.self) { try await queue.read { _ in Issue.record("ran") } }
        await #expect(throws: CancellationError.self) { try await queue.barrier { _ in Issue.record("ran") } }
      }
      task.cancel()
      start.open()
      await task.value
    }
  }

  @Test func cancelledAtRandomMomentsNothingIsHalfDoneOrLost() async throws {
    try await withQueue(.rcu, limit: 4) { queue async throws in
      var random = SplitMix(seed: 7)
      var committed = 0
      for _ in 0..<30 {
        let tasks = (0..<10).map { _ in
          Task {
            try await queue.barrier { tx in
              try tx.increment("a")
              sched_yield()
              try tx.increment("b")
            }
          }
        }
        for task in tasks where Bool.random(using: &random) { task.cancel() }
        for task in tasks {
          do {
            try await task.value
            committed += 1
          } catch {
            #expect(error is CancellationError)
          }
        }
      }
      #expect(try queue.table.get("a") ?? 0 == committed)
      #expect(try queue.table.get("b") ?? 0 == committed)
    }
  }
}
