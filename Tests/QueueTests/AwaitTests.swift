import Glibc
import SharedMemory
import TestSupport
import Testing

@testable import SharedTable

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
      #expect(try await queue.barrier(waitingForReaders: true) { tx in try tx.increment("n") } == 3)
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
      // Behind this it waits for its turn, and does not block a thread of the tasks' once it runs.
      let submitted = Door()
      let first = try queue.async { _ in submitted.wait() }
      let running = Task {
        try await queue.barrier { tx in
          inside.open()
          leave.wait()
          return try tx.increment("n")
        }
      }
      await suspendUntil { queue.waitingCount != 0 }
      submitted.open()
      await suspendUntil { inside.isOpen }
      _ = try await first.value
      // One waits inside the queue, the others outside: there is room for one.
      let waiting = (0..<3).map { _ in Task { try await queue.barrier { tx in try tx.increment("n", by: 100) } } }
      let reading = Task { try await queue.read { _ in Issue.record("it must not run") } }
      await suspendUntil { queue.pendingCount == 5 }
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

  /// Readers of the rwlock variant may be waited for, so there a barrier is the queue's threads' from the beginning.
  @Test func withNothingInTheWayABarrierRunsOnTheTasksThread() async throws {
    try await withQueue(.rcu) { queue async throws in
      let (here, inside) = try await Task.detached {
        (ProcessIdentity.tid, try await queue.barrier { _ in ProcessIdentity.tid })
      }.value
      #expect(inside == here)
      #expect(queue.isIdle)
      // Also on an actor: it is not left.
      try await onTheMainActor(queue)
    }
  }

  @MainActor private func onTheMainActor(_ queue: BarrierQueue) async throws {
    let here = ProcessIdentity.tid
    #expect(try await queue.barrier { _ in ProcessIdentity.tid } == here)
    #expect(try await queue.read { _ in ProcessIdentity.tid } == here)
  }

  /// A barrier of the table, and one of a key, of which the queue knows nothing.
  @Test(arguments: [true, false]) func whileTheTableIsHeldTheTasksThreadIsNotHeldUp(_ isOfKey: Bool) async throws {
    try await withQueue(.rcu) { queue async throws in
      let (inside, leave) = (Door(), Door())
      let holder = TestThread {
        let hold = { (_: inout Transaction) in
          inside.open()
          leave.wait()
        }
        if isOfKey { try queue.table.barrier(keys: ["k"], hold) } else { try queue.table.barrier(hold) }
      }
      defer { leave.open() }
      await suspendUntil { inside.isOpen }
      // Once a thread of the queue's waits for the table.
      let opener = TestThread {
        waitUntil { queue.turns > 0 }
        leave.open()
      }
      let (here, there) = try await Task.detached {
        (ProcessIdentity.tid, try await queue.barrier { _ in ProcessIdentity.tid })
      }.value
      #expect(here != there)
      try opener.join()
      try holder.join()
    }
  }

  /// A task may begin inside a section of its thread. There its barrier has to wait for the section's end, and may.
  @available(*, noasync)
  private func beginInASection(_ queue: BarrierQueue) throws -> Task<Int, any Error> {
    try queue.table.read { _ in Task.immediate { try await queue.barrier { tx in try tx.increment("n") } } }
  }

  @Test(arguments: Table.Variant.allCases) func aTaskThatBeginsInASectionHasItsBarrierAfterIt(
    _ variant: Table.Variant
  ) async throws {
    try await withQueue(variant) { queue async throws in
      let begin = beginInASection
      #expect(try await begin(queue).value == 1)
    }
  }

  enum Section: CaseIterable { case barrier, keyed, read }

  /// Its turn has come, but its closure has not begun.
  @Test(.timeLimit(.minutes(20)), arguments: Section.allCases)
  func aTaskCancelledWhileItWaitsForTheTableDoesNotEnterItsSection(_ section: Section) async throws {
    try await withQueue(section == .read ? .rwlock : .rcu) { queue async throws in
      let holder = try Holder(queue.table)
      let long = Duration.seconds(600)
      let waiting = Task {
        switch section {
        case .barrier: try await queue.barrier(timeout: long) { tx in _ = try tx.increment("n") }
        case .keyed: try await queue.barrier(keys: ["n"], timeout: long) { tx in try tx.set("n", 1) }
        case .read: try await queue.read(timeout: long) { _ in _ = Issue.record("it must not run") }
        }
      }
      await suspendUntil { queue.turnsWaiting != 0 }
      waiting.cancel()
      // At once: the table is held.
      await #expect(throws: CancellationError.self) { try await waiting.value }
      holder.leave()
      try await queue.flush()
      #expect(try !queue.table.contains("n"))
      try await queue.barrier { tx in _ = try tx.increment("n") }
    }
  }

  @Test func aHandleCancelsWhatWaitsForTheTable() async throws {
    try await withQueue(.rcu) { queue async throws in
      let holder = try Holder(queue.table)
      let item = try queue.async(flags: .barrier, timeout: .seconds(600)) { tx in try tx.increment("n") }
      await suspendUntil { queue.turnsWaiting != 0 }
      #expect(item.cancel())
      #expect(!item.cancel())
      #expect(item.isFinished)
      await #expect(throws: CancellationError.self) { try await item.value }
      holder.leave()
      try await queue.flush()
      #expect(try !queue.table.contains("n"))
    }
  }

  @Test func aCancelledTaskSubmitsNothing() async throws {
    try await withQueue(.rcu) { queue async throws in
      let start = Door()
      let task = Task {
        await suspendUntil { start.isOpen }
        await #expect(throws: CancellationError.self) { try await queue.read { _ in Issue.record("ran") } }
        await #expect(throws: CancellationError.self) { try await queue.barrier { _ in Issue.record("ran") } }
      }
      task.cancel()
      start.open()
      await task.value
    }
  }

  /// Reads of a queue and barriers of a table, whose closures lie in the tasks' memory: lanes that still held one would end the process.
  @Test(arguments: Table.Variant.allCases) func cancelledAtRandomMomentsNoClosureOutlivesItsTask(
    _ variant: Table.Variant
  ) async throws {
    try await withQueue(variant, limit: 4) { queue async throws in
      var random = SplitMix(seed: 8)
      for round in 0..<30 {
        let tasks = (0..<10).map { index in
          Task {
            try await queue.table.barrier { tx in
              try tx.set("a", round)
              sched_yield()
              try tx.set("b", round)
            }
            // Has reads wait for their turn, unless the queue is full.
            if index == 0 { _ = try? queue.async(flags: .barrier) { _ in sched_yield() } }
            let (a, b) = try await queue.read { view in
              (try view.get("a", as: Int.self), try view.get("b", as: Int.self))
            }
            #expect(a == b)
          }
        }
        for task in tasks where Bool.random(using: &random) { task.cancel() }
        for task in tasks {
          do { try await task.value } catch { #expect(error is CancellationError) }
        }
      }
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
