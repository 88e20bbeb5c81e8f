import Dispatch
import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// Accesses on threads of their own: their order, their bounds, and how they are given up.
@Suite struct AsyncAccessTests {
  @Test(arguments: Table.Variant.allCases) func changesRunInTheOrderOfTheirSubmission(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let list = Guarded("list", in: table, default: [UInt8]())
      let items = try (0..<200).map { number in
        try list.accessor { list in
          list.append(UInt8(number))
          return list.count
        }.accessAsync()
      }
      #expect(try items.map { try $0.wait() } == Array(1...200))
      #expect(try list.accessor { $0 }.accessAsync().wait() == (0..<200).map { UInt8($0) })
    }
  }

  @Test(arguments: Table.Variant.allCases) func aSynchronousAccessSeesWhatItsThreadSubmitted(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let list = Guarded("list", in: table, default: [UInt8]())
      let count = list.accessor { $0.count }
      let holder = try worker(table)
      try holder.ask("barrier", expecting: "in")
      // Longer than the look's own wait, which the holder keeps from its turn.
      let item = try list.accessor { $0.append(1) }.accessAsync(timeout: .seconds(600))
      let late = error { try count.accessSync(timeout: .milliseconds(20)) }
      #expect(late?.code == .timedOut)
      #expect(late?.message.contains("what was submitted before it") == true, "\(String(describing: late))")
      try holder.ask("commit", expecting: "ok")
      #expect(try count.accessSync(timeout: .seconds(600)) == 1)
      try item.wait()
      for number in 1...500 {
        try list.accessor { $0.append(1) }.accessAsync()
        if number % 2 == 0 { try list.accessor { $0.append(2) }.accessSync() }
        #expect(try count.accessSync() == 1 + number + number / 2)
      }
      let order = try list.accessor { $0 }.accessSync()
      #expect(order.dropFirst() == (0..<250).flatMap { _ in [1, 1, 2] as [UInt8] }[...])
      try holder.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases) func anAccessRunsOnAQueueOfOnesOwn(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let number = Guarded("n", in: table, default: 0)
      let queue = try BarrierQueue(in: table, label: "org.example.access")
      let (add, look) = (number.accessor { $0 += 1 }, number.accessor { $0 })
      for expected in 1...200 {
        try add.accessAsync(on: queue)
        // The queue's own work, between those of accessors.
        #expect(try queue.sync { view in try view.get("n", as: Int.self) } == 2 * expected - 1)
        try add.accessSync(on: queue)
        #expect(try look.accessSync(on: queue) == 2 * expected)
      }
      #expect(try look.accessAsync(on: queue).wait() == 400)
      try withTable(variant) { other throws in
        let elsewhere = try BarrierQueue(in: other, label: "org.example.access")
        #expect(code { try add.accessSync(on: elsewhere) } == .wrongTable)
        #expect(code { try look.accessAsync(on: elsewhere) } == .wrongTable)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func anAccessOnNoQueueDoesNotWaitForThoseOnAQueue(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let number = Guarded("n", in: table, default: 0)
      let queue = try BarrierQueue(in: table, label: "org.example.access")
      let look = number.accessor { $0 }
      queue.suspend()
      let item = try number.accessor { $0 += 1 }.accessAsync(on: queue)
      #expect(try look.accessSync() == 0)
      #expect(try look.accessAsync().wait() == 0)
      queue.resume()
      #expect(try look.accessSync(on: queue) == 1)
      try item.wait()
    }
  }

  @Test(arguments: Table.Variant.allCases) func anAccessIsAwaitedOnAQueueOfOnesOwn(_ variant: Table.Variant)
    async throws
  {
    try await withTable(variant) { table in
      let number = Guarded("n", in: table, default: 0)
      let queue = try BarrierQueue(in: table, label: "org.example.access")
      for expected in 1...100 {
        try await number.accessor { $0 += 1 }.access(on: queue)
        #expect(try await number.accessor { $0 }.access(on: queue) == expected)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func awaitingGivesTheResultOrTheError(_ variant: Table.Variant) async throws
  {
    try await withTable(variant) { table in
      let number = Guarded("n", in: table, default: 0)
      let increment = number.accessor { value in
        value += 1
        return value
      }
      let sum = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<500 { group.addTask { try await increment.access() } }
        return try await group.reduce(0, +)
      }
      #expect(sum == 500 * 501 / 2)
      #expect(try await number.accessor { $0 }.access() == 500)
      let refusing = number.accessor { value in
        value = 0
        throw Refusal(number: 3)
      }
      await #expect(throws: Refusal(number: 3)) { try await refusing.access() }
      #expect(try await number.accessor { $0 }.access(on: Table.open(table.name, access: .observer)) == 500)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aCompletionRunsOnItsQueue(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table in
      let key = DispatchSpecificKey<Int>()
      let queue = DispatchQueue(label: "test")
      queue.setSpecific(key: key, value: 7)
      let number = Guarded("n", in: table, default: 1)
      let seen: (Int?, Int?) = try await withCheckedThrowingContinuation { continuation in
        do {
          try number.accessor { $0 += 4 }.then { number.accessor { $0 } }.accessAsync(queue: queue) { result in
            continuation.resume(returning: (try? result.get(), DispatchQueue.getSpecific(key: key)))
          }
        } catch {
          continuation.resume(throwing: error)
        }
      }
      #expect(seen.0 == 5)
      #expect(seen.1 == 7)
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatIsCancelledInTimeNeverRuns(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table in
      let list = Guarded("list", in: table, default: [UInt8]())
      let holder = try worker(table)
      try holder.ask("barrier", expecting: "in")
      // The first is on its way into the table, the others behind it.
      let first = try list.accessor { $0.append(1) }.accessAsync()
      let second = try list.accessor { $0.append(2) }.accessAsync()
      let third = try list.accessor { $0.append(3) }.accessAsync()
      let awaiting = Task { try await list.accessor { $0.append(4) }.access() }
      #expect(second.cancel())
      awaiting.cancel()
      #expect(second.isFinished)
      #expect(!third.isFinished)
      // No suspension until here: other tests may have every thread that could go on with this one.
      try holder.ask("commit", expecting: "ok")
      await #expect(throws: CancellationError.self) { try await awaiting.value }
      try waitFor(first)
      try waitFor(third)
      #expect(!first.cancel())
      try waitFor(first)
      #expect(throws: CancellationError.self) { try waitFor(second) }
      #expect(try table.bytes(forKey: "list") == [1, 3])
      try holder.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases) func waitingForAnAccessMayBeGivenUp(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let holder = try worker(table)
      try holder.ask("barrier", expecting: "in")
      let access = try Guarded("n", in: table, default: 0).accessor { $0 += 1 }.accessAsync()
      #expect(code { try access.wait(timeout: .milliseconds(5)) } == .timedOut)
      try holder.ask("commit", expecting: "ok")
      try access.wait()
      #expect(try table.get("n") == 1)
      try holder.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases) func waitingForOneselfIsAnErrorAtOnce(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let value = Guarded("n", in: table, default: 0)
      let change = value.accessor { $0 += 1 }
      let look = value.accessor { $0 }
      // Their turn comes after that of the access, or section, that waits: only the error ends this.
      let changes = Mutex<[WorkItem<Void>]>([])
      let looks = Mutex<[WorkItem<Int>]>([])
      @Sendable func waitForChange() throws {
        let item = try change.accessAsync()
        changes.withLock { $0.append(item) }
        try item.wait()
      }
      @Sendable func waitForLook() throws {
        let item = try look.accessAsync()
        looks.withLock { $0.append(item) }
        _ = try item.wait()
      }
      let waiting = value.accessor { (_: inout Int) in try waitForChange() }
      #expect(code { try waiting.accessAsync().wait() } == .wouldDeadlock)
      #expect(code { try table.barrier { _ in try waitForChange() } } == .wouldDeadlock)
      // In a read section, where the variant may let it begin, behind one that does not end.
      let gate = DispatchSemaphore(value: 0)
      @Sendable func waitBehindGate() throws {
        let held = try value.accessor { (_: inout Int) in gate.wait() }.accessAsync()
        changes.withLock { $0.append(held) }
        try waitForChange()
      }
      #expect(code { try table.read { _ in try waitBehindGate() } } == .wouldDeadlock)
      gate.signal()
      // Behind a change that waits for the barrier.
      @Sendable func waitBehindChange() throws {
        let held = try change.accessAsync()
        changes.withLock { $0.append(held) }
        try waitForLook()
      }
      #expect(code { try table.barrier { _ in try waitBehindChange() } } == .wouldDeadlock)
      for item in changes.withLock({ $0 }) { try item.wait() }
      #expect(try looks.withLock { $0 }.map { try $0.wait() } == [4])
    }
  }

  // MARK: - What the queue gives

  @Test(arguments: Table.Variant.allCases) func aLookSeesTheChangesBegunBeforeThroughAnyHandle(
    _ variant: Table.Variant
  ) async throws {
    try await withTable(variant) { table in
      let other = try Table.open(table.name, timeout: .seconds(600))
      let value = Guarded("n", in: table, default: 0)
      let increment = value.accessor { $0 += 1 }
      for round in 1...50 {
        for index in 0..<10 { try increment.accessAsync(on: index % 2 == 0 ? table : other) }
        let seen = try value.accessor { $0 }.accessAsync(on: other)
        #expect(try waitFor(seen) == 20 * round - 10)
        for _ in 0..<10 { try increment.accessAsync() }
        #expect(try await value.accessor { $0 }.access(on: other) == 20 * round)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func aLookThroughAnObserverSeesTheChangesBegunBefore(
    _ variant: Table.Variant
  ) async throws {
    try await withTable(variant) { table in
      let observer = try Table.open(table.name, access: .observer, timeout: .seconds(600))
      let value = Guarded("n", in: table, default: 0)
      let (increment, look) = (value.accessor { $0 += 1 }, Guarded("n", in: observer, default: 0).accessor { $0 })
      let (inside, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let slow = value.accessor { value in
        inside.signal()
        leave.wait()
        value += 1
      }
      let item = try slow.accessAsync()
      inside.waitOnThisThread()
      let seen = try look.accessAsync()
      #expect(error { try synchronously(look, timeout: .milliseconds(20)) }?.code == .timedOut)
      #expect(!seen.isFinished)
      leave.signal()
      #expect(try synchronously(look) == 1)
      #expect(try await seen.value == 1)
      try await item.value
      for round in 1...100 {
        try increment.accessAsync()
        #expect(try await look.access() == 2 * round)
        try increment.accessAsync()
        #expect(try synchronously(look) == 2 * round + 1)
      }
    }
  }

  @Test func aForkedChildLooksThroughAnObserverOfItsOwn() throws {
    try withTable(.rcu) { table in
      try table.set("a", 7)
      let parent = try worker(table)
      try parent.ask("access-fork-observer", expecting: "7")
      try parent.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases) func aBurstTakesFewBarriersAndEachIsUndoneByItself(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let value = Guarded("n", in: table, default: 0)
      let other = Guarded("m", in: table, default: 0)
      let holder = try worker(table)
      try holder.ask("barrier", expecting: "in")
      let items = try (0..<2000).map { number in
        let failing = other.accessor { (other: inout Int) throws in
          other += 1
          if number % 10 == 3 { throw Refusal(number: number) }
        }
        return try value.accessor { $0 += 1 }.zip(failing).accessAsync()
      }
      try holder.ask("commit", expecting: "ok")
      for (number, item) in items.enumerated() {
        if number % 10 == 3 {
          #expect(throws: Refusal(number: number)) { _ = try item.wait() }
        } else {
          _ = try item.wait()
        }
      }
      #expect(try table.get("n") == 1800)
      #expect(try table.get("m") == 1800)
      // Each that changed something would have had a version of its own. A machine that stands still cuts groups short.
      #expect(table.version < 1000, "\(table.version) versions for 1800 changes")
      try holder.finish()
    }
  }

  @Test func errorsSpeakOfNoQueueAndTimeoutsAreTheHandles() throws {
    try withTable(.rcu) { table throws in
      let hasty = try Table.open(table.name, timeout: .milliseconds(20))
      let holder = try worker(table)
      try holder.ask("barrier", expecting: "in")
      let increment = Guarded("n", in: table, default: 0).accessor { $0 += 1 }
      let patient = try increment.accessAsync()
      let waiting = error { try patient.wait(timeout: .milliseconds(5)) }
      #expect(waiting?.code == .timedOut)
      let second = try increment.accessAsync(on: hasty)
      #expect(code { try second.wait() } == .timedOut, "by the timeout of its own handle")
      try holder.ask("commit", expecting: "ok")
      try patient.wait()
      try second.wait(timeout: .seconds(600))
      try holder.ask("barrier", expecting: "in")
      let third = try increment.accessAsync(on: hasty)
      let late = error { try third.wait(timeout: .seconds(600)) }
      #expect(late?.code == .timedOut)
      #expect(late?.holder?.pid == holder.pid)
      for message in [waiting, late].map({ $0?.description ?? "" }) {
        #expect(message.hasPrefix("table '\(table.name)': timed out"))
        #expect(!message.contains("queue"))
      }
      try holder.ask("commit", expecting: "ok")
      try holder.finish()
    }
  }

  @Test func aFailureThatNobodyLooksAtIsALineOnStandardError() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      try withTable(.rcu) { table throws in
        let value = Guarded("n", in: table, default: 0)
        try value.accessor { (_: inout Int) in throw Refusal(number: 5) }.accessAsync()
        try value.accessor { $0 += 1 }.accessAsync().wait()
      }
    }
    let lines = String(decoding: try #require(result).standardErrorContent, as: UTF8.self).split(separator: "\n")
    let line = lines.first { $0.contains("nobody looked") } ?? ""
    #expect(line.hasPrefix("SharedTable: table 'test-"))
    #expect(line.hasSuffix("asynchronous work failed and nobody looked: Refusal(number: 5)"))
  }

  // MARK: - Bounds

  @Test func aFullQueueRefusesAndABlockedTableHoldsUpNoOther() throws {
    try withTable(.rcu) { table throws in
      try withTable(.rcu) { other throws in
        let holder = try worker(table)
        try holder.ask("barrier", expecting: "in")
        let increment = Guarded("n", in: table, default: 0).accessor { $0 += 1 }
        // Not long enough to wait for here: those that nobody holds are done one by one when the holder is gone.
        var items: [WorkItem<Void>] = []
        let limit = BarrierQueue.defaultLimit
        let refusal = error { while items.count < limit + 2 { items.append(try increment.accessAsync()) } }
        #expect(refusal?.code == .queueFull)
        // One is on its way at most.
        #expect([limit, limit + 1].contains(items.count))
        let elsewhere = Guarded("n", in: other, default: 0).accessor { $0 += 1 }
        try elsewhere.accessAsync().wait()
        try holder.ask("commit", expecting: "ok")
        for item in items { try item.wait() }
        #expect(try table.get("n") == items.count)
        try holder.finish()
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func fewThreadsServeManyAccesses(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let gate = DispatchSemaphore(value: 0)
      let value = Guarded("n", in: table, default: 0)
      let reads = try (0..<100).map { _ in try value.accessor { (_: Int) in gate.wait() }.accessAsync() }
      // A quarter of the process's.
      #expect((4...8).contains(table.accessThreads))
      for _ in reads { gate.signal() }
      for read in reads { try read.wait() }

      let changes = try (0..<100).map { _ in try value.accessor { (_: inout Int) in gate.wait() }.accessAsync() }
      #expect(table.accessThreads == 1)
      for _ in changes { gate.signal() }
      for change in changes { try change.wait() }
      // Threads go when there is nothing left for them, and come back.
      try value.accessor { $0 += 1 }.accessAsync().wait()
      #expect(try table.get("n") == 1)
    }
  }
}

/// For tests that are asynchronous otherwise.
private func waitFor<Output>(_ handle: WorkItem<Output>) throws -> Output { try handle.wait() }

/// The blocking form, from asynchronous code.
private func synchronously<Output>(_ look: ReadAccessor<Output>, timeout: Duration? = nil) throws -> Output {
  try look.accessSync(timeout: timeout)
}

extension DispatchSemaphore {
  fileprivate func waitOnThisThread() { wait() }
}
