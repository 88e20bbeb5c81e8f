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
      let list = Guarded("list", in: table, initial: [UInt8]())
      let handles = (0..<200).map { number in
        list.accessor { list in
          list.append(UInt8(number))
          return list.count
        }.accessAsync()
      }
      #expect(try handles.map { try $0.wait() } == Array(1...200))
      #expect(try list.accessor { $0 }.accessAsync().wait() == (0..<200).map { UInt8($0) })
    }
  }

  @Test(arguments: Table.Variant.allCases) func awaitingGivesTheResultOrTheError(_ variant: Table.Variant) async throws
  {
    try await withTable(variant) { table in
      let number = Guarded("n", in: table, initial: 0)
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
      let number = Guarded("n", in: table, initial: 1)
      let seen: (Int?, Int?) = try await withCheckedThrowingContinuation { continuation in
        number.accessor { $0 += 4 }.then { number.accessor { $0 } }.accessAsync(queue: queue) { result in
          continuation.resume(returning: (try? result.get(), DispatchQueue.getSpecific(key: key)))
        }
      }
      #expect(seen.0 == 5)
      #expect(seen.1 == 7)
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatIsCancelledInTimeNeverRuns(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table in
      let list = Guarded("list", in: table, initial: [UInt8]())
      let holder = try worker(table)
      try holder.ask("barrier", expecting: "in")
      // The first is on its way into the table, the others behind it.
      let first = list.accessor { $0.append(1) }.accessAsync()
      let second = list.accessor { $0.append(2) }.accessAsync()
      let third = list.accessor { $0.append(3) }.accessAsync()
      let awaiting = Task { try await list.accessor { $0.append(4) }.access() }
      second.cancel()
      awaiting.cancel()
      #expect(second.isFinished)
      #expect(!third.isFinished)
      // No suspension until here: other tests may have every thread that could go on with this one.
      try holder.ask("commit", expecting: "ok")
      await #expect(throws: CancellationError.self) { try await awaiting.value }
      try waitFor(first)
      try waitFor(third)
      first.cancel()
      try waitFor(first)
      #expect(throws: CancellationError.self) { try waitFor(second) }
      #expect(try table.bytes("list") == [1, 3])
      try holder.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases) func waitingForAnAccessMayBeGivenUp(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let holder = try worker(table)
      try holder.ask("barrier", expecting: "in")
      let access = Guarded("n", in: table, initial: 0).accessor { $0 += 1 }.accessAsync()
      #expect(code { try access.wait(timeout: .milliseconds(5)) } == .timedOut)
      try holder.ask("commit", expecting: "ok")
      try access.wait()
      #expect(try table.get("n") == 1)
      try holder.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases) func waitingForOneselfIsAnErrorAtOnce(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let value = Guarded("n", in: table, initial: 0)
      let change = value.accessor { $0 += 1 }
      let look = value.accessor { $0 }
      // Its lane is that of the access that waits: only the error ends this.
      let handles = Mutex<[AccessHandle<Void>]>([])
      let waiting = value.accessor { (_: inout Int) in
        let inner = change.accessAsync()
        handles.withLock { $0.append(inner) }
        try inner.wait()
      }
      #expect(code { try waiting.accessAsync().wait() } == .wouldDeadlock)
      #expect(code { try table.barrier { _ in try change.accessAsync().wait() } } == .wouldDeadlock)
      if variant == .rwlock {
        #expect(code { try table.read { _ in try change.accessAsync().wait() } } == .wouldDeadlock)
        let looks = Mutex<[AccessHandle<Int>]>([])
        let refusal = code {
          try table.barrier { _ in
            looks.withLock { $0.append(look.accessAsync()) }
            _ = try looks.withLock { $0[0] }.wait()
          }
        }
        #expect(refusal == .wouldDeadlock)
        _ = try looks.withLock { $0[0] }.wait()
      } else {
        try table.read { _ in try change.accessAsync().wait() }
        _ = try table.barrier { _ in try look.accessAsync().wait() }
      }
      for handle in handles.withLock({ $0 }) { try handle.wait() }
      // Behind all the others: when it has ended, they have.
      try change.accessAsync().wait()
      #expect(try table.get("n") == 4)
    }
  }

  @Test func aFullLaneRefusesAndABlockedTableHoldsUpNoOther() throws {
    try withTable(.rcu) { table throws in
      try withTable(.rcu) { other throws in
        let holder = try worker(table)
        try holder.ask("barrier", expecting: "in")
        let increment = Guarded("n", in: table, initial: 0).accessor { $0 += 1 }
        // Not long enough to wait for here: those that nobody holds are done one by one when the holder is gone.
        let handles = (0..<10_002).map { _ in increment.accessAsync() }
        // One is on its way at most.
        #expect(code { try handles[10_001].wait() } == .full)
        let elsewhere = Guarded("n", in: other, initial: 0).accessor { $0 += 1 }
        try elsewhere.accessAsync().wait()
        try holder.ask("commit", expecting: "ok")
        for handle in handles[..<10_000] { try handle.wait() }
        #expect(try [10_000, 10_001].contains(table.get("n", as: Int.self)))
        try holder.finish()
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func fewThreadsServeManyAccesses(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let gate = DispatchSemaphore(value: 0)
      let value = Guarded("n", in: table, initial: 0)
      let reads = (0..<100).map { _ in value.accessor { (_: Int) in gate.wait() }.accessAsync() }
      #expect(table.accessThreads == (4, 0))
      for _ in reads { gate.signal() }
      for read in reads { try read.wait() }

      let changes = (0..<100).map { _ in value.accessor { (_: inout Int) in gate.wait() }.accessAsync() }
      #expect(table.accessThreads.changes == 1)
      for _ in changes { gate.signal() }
      for change in changes { try change.wait() }
      // Threads go when there is nothing left for them, and come back.
      try value.accessor { $0 += 1 }.accessAsync().wait()
      #expect(try table.get("n") == 1)
    }
  }
}

/// For tests that are asynchronous otherwise.
private func waitFor<Output>(_ handle: AccessHandle<Output>) throws -> Output { try handle.wait() }
