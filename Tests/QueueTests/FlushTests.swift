import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// Waiting for all that was submitted: by a call, and at the process's end.
@Suite struct FlushTests {
  @Test(arguments: Table.Variant.allCases) func whatWasSubmittedHasRun(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      try queue.flush()
      for _ in 0..<1000 { try queue.async(flags: .barrier) { tx in try tx.increment("n") } }
      try queue.flush()
      #expect(try queue.table.get("n", as: Int.self) == 1000)
      let (inside, leave) = (Door(), Door())
      try queue.async { _ in
        inside.open()
        leave.wait()
      }
      inside.wait()
      #expect(code { try queue.flush(timeout: .milliseconds(20)) } == .timedOut, "reads are waited for too")
      leave.open()
      try queue.flush(timeout: .seconds(600))
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatWasSubmittedIsAwaited(_ variant: Table.Variant) async throws {
    try await withQueue(variant) { queue in
      for _ in 0..<1000 { try queue.async(flags: .barrier) { tx in try tx.increment("n") } }
      try await queue.flush()
      #expect(try queue.table.get("n", as: Int.self) == 1000)
      try await queue.flush()
    }
  }

  /// An awaited barrier that came when the queue was full came before it, too.
  @Test(arguments: Table.Variant.allCases) func whatFoundNoRoomYetIsWaitedFor(_ variant: Table.Variant) async throws {
    try await withQueue(variant, limit: 1) { queue in
      let (inside, leave, hasReturned) = (Door(), Door(), Door())
      try queue.async(flags: .barrier) { _ in
        inside.open()
        leave.wait()
      }
      await suspendUntil { inside.isOpen }
      try queue.async(flags: .barrier) { tx in try tx.increment("n") }
      let awaited = Task { try await queue.barrier { tx in try tx.increment("n") } }
      await suspendUntil { queue.pendingCount == 3 }
      #expect(code { try queue.flush(timeout: .milliseconds(20)) } == .timedOut)
      let flush = TestThread {
        defer { hasReturned.open() }
        try queue.flush(timeout: .seconds(600))
        return try queue.table.get("n", as: Int.self)
      }
      flush.waitUntilAsleep()
      leave.open()
      await suspendUntil { hasReturned.isOpen }
      #expect(try flush.join() == 2)
      #expect(try await awaited.value == 2)
    }
  }

  @Test(arguments: Table.Variant.allCases) func inASectionItWouldWaitForItself(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      try queue.table.barrier { (_: inout Transaction) throws in
        try queue.flush()
        try queue.async(flags: .barrier) { tx in try tx.increment("n") }
        #expect(code { try queue.flush() } == .wouldDeadlock)
      }
      try queue.flush()
      #expect(try queue.table.get("n", as: Int.self) == 1)
    }
  }

  // MARK: - At the end

  @Test(arguments: Table.Variant.allCases) func aProcessThatReturnsFromMainLosesNothing(_ variant: Table.Variant) throws
  {
    try withTable(variant) { table throws in
      let other = try worker(table)
      try other.ask("queue-submit 5000", expecting: "submitted")
      try other.finish()
      #expect(try table.get("n", as: Int.self) == 5000)
      #expect(other.standardError == "")
    }
  }

  @Test func aQueueMayEndWhileTheProcessDoes() throws {
    try withTable(.rcu) { table throws in
      let other = try worker(table)
      try other.ask("queue-ends 20000", expecting: "ended")
      try other.finish()
    }
  }

  @Test func aProcessEndsThoughItsWorkCannotBeDone() throws {
    try withTable(.rcu) { table throws in
      let holder = try worker(table)
      try holder.ask("barrier", expecting: "in")
      let other = try worker(table)
      try other.ask("queue-submit 7 200", expecting: "submitted")
      try other.finish()
      let lines = other.standardError.split(separator: "\n")
      #expect(lines.count == 1, "\(lines)")
      #expect(lines.first?.hasPrefix("SharedTable: queue 'org.example.worker': the process ends, and 7 ") == true)
      #expect(lines.first?.contains("pid \(holder.pid)") == true, "\(lines)")
      try holder.ask("commit", expecting: "ok")
      try holder.finish()
      #expect(try table.get("n", as: Int.self) == nil)
    }
  }

  /// Of a suspended queue too, what has begun is waited for.
  @Test func aProcessEndsWithWhatItsSuspendedQueueHasBegun() throws {
    try withTable(.rcu) { table throws in
      let holder = try worker(table)
      try holder.ask("barrier", expecting: "in")
      let other = try worker(table)
      try other.ask("queue-suspend", expecting: "suspended")
      other.closeInput()
      #expect(try other.readLine() == "ends")
      try holder.ask("commit", expecting: "ok")
      try other.finish()
      try holder.finish()
      #expect(try table.get("n", as: Int.self) == 1)
      #expect(
        other.standardError
          == "SharedTable: queue 'org.example.worker': the process ends while it is suspended, and 1 asynchronous items were not done\n"
      )
    }
  }

  @Test func equalFailuresAreToldOfInFewLines() throws {
    try withTable(.rcu) { table throws in
      let other = try worker(table)
      try other.ask("queue-fail 500", expecting: "submitted")
      try other.finish()
      let lines = other.standardError.split(separator: "\n")
      #expect(lines.count == 3, "\(lines)")
      // Two threads may write at a time.
      #expect(lines.contains { $0.contains("(100 times by now)") }, "\(lines)")
    }
  }
}
