import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// A suspended queue begins nothing, keeps the order, and goes on where it was.
@Suite struct SuspendTests {
  private struct Kept { weak var queue: BarrierQueue? }

  @Test(arguments: Table.Variant.allCases) func nothingBeginsUntilItIsResumed(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      queue.suspend()
      let notes = Notes<Int>()
      for number in 0..<3 { try queue.async(flags: .barrier) { _ in notes.add(number) } }
      try queue.async { _ in notes.add(3) }
      #expect(code { try queue.sync(timeout: .milliseconds(20)) { _ in notes.add(-1) } } == .timedOut)
      let barrier = code {
        try queue.sync(flags: .barrier, timeout: .milliseconds(20)) { (_: inout Transaction) in notes.add(-1) }
      }
      #expect(barrier == .timedOut)
      #expect(code { try queue.flush(timeout: .milliseconds(20)) } == .timedOut)
      #expect(notes.all == [])
      queue.resume()
      try queue.flush(timeout: .seconds(600))
      #expect(notes.all == [0, 1, 2, 3])
    }
  }

  @Test func whoTimesOutLearnsThatItIsSuspended() throws {
    try withQueue(.rcu) { queue throws in
      queue.suspend()
      let error = #expect(throws: TableError.self) { try queue.sync(timeout: .milliseconds(1)) { _ in } }
      #expect(error?.message.contains("suspended") == true)
      queue.resume()
    }
  }

  @Test(arguments: Table.Variant.allCases) func itIsResumedAsOftenAsSuspended(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      queue.suspend()
      queue.suspend()
      try queue.async(flags: .barrier) { tx in try tx.increment("n") }
      queue.resume()
      #expect(code { try queue.flush(timeout: .milliseconds(20)) } == .timedOut)
      #expect(try queue.table.get("n", as: Int.self) == nil)
      queue.resume()
      try queue.flush(timeout: .seconds(600))
      #expect(try queue.table.get("n", as: Int.self) == 1)
    }
  }

  @Test(arguments: Table.Variant.allCases) func whoWaitsForItGoesOn(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      queue.suspend()
      try queue.async(flags: .barrier) { tx in try tx.set("k", 1) }
      let reader = TestThread { try queue.sync { view in try view.get("k", as: Int.self) } }
      waitUntil { queue.waitingCount == 2 }
      queue.resume()
      #expect(try reader.join() == 1)
    }
  }

  /// What has begun ends; what follows it, as a part of the same group too, waits.
  @Test(arguments: Table.Variant.allCases) func aBarrierThatSuspendsItsQueueIsItsLast(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      queue.suspend()
      let first = try queue.async(flags: .barrier) { tx in
        queue.suspend()
        try tx.increment("n")
      }
      try queue.async(flags: .barrier) { tx in try tx.increment("n") }
      queue.resume()
      try first.wait(timeout: .seconds(600))
      #expect(code { try queue.flush(timeout: .milliseconds(20)) } == .timedOut)
      #expect(try queue.table.get("n", as: Int.self) == 1)
      queue.resume()
      try queue.flush(timeout: .seconds(600))
      #expect(try queue.table.get("n", as: Int.self) == 2)
    }
  }

  /// Of what follows it, as a part of the same group too, nothing is lost, nothing changes places, and nothing waits that was cancelled.
  @Test(arguments: Table.Variant.allCases) func whatFollowsABarrierThatSuspendsItsQueueKeepsItsPlace(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      queue.suspend()
      let (notes, followers) = (Notes<Int>(), Notes<WorkItem<Void>>())
      // With it a lane takes others out of the queue.
      try queue.async(flags: .barrier) { _ in notes.add(0) }
      let last = try queue.async(flags: .barrier) { _ in
        queue.suspend()
        #expect(followers.all[1].cancel())
        notes.add(1)
      }
      for number in 2...41 { followers.add(try queue.async(flags: .barrier) { _ in notes.add(number) }) }
      try queue.async { _ in notes.add(42) }
      queue.resume()
      try last.wait(timeout: .seconds(600))
      waitUntil { queue.turns == 0 }
      #expect(notes.all == [0, 1])
      #expect(queue.waitingCount == 40)
      queue.resume()
      try queue.flush(timeout: .seconds(600))
      #expect(notes.all == (0...42).filter { $0 != 3 })
    }
  }

  @Test func aSuspendedQueueIsKeptWithItsWork() throws {
    try withTable(.rcu) { table throws in
      var queue: BarrierQueue? = try BarrierQueue(in: table, label: "org.example.test")
      let kept = Kept(queue: queue)
      queue?.suspend()
      let inside = Door()
      try queue?.async(flags: .barrier) { _ in inside.open() }
      queue = nil
      try #require(kept.queue != nil)
      kept.queue?.resume()
      inside.wait()
      waitUntil { kept.queue == nil }
    }
  }

  @Test(.timeLimit(.minutes(20)), arguments: Table.Variant.allCases) func awaitedSectionsWaitToo(
    _ variant: Table.Variant
  ) async throws {
    try await withQueue(variant) { queue in
      queue.suspend()
      async let barrier: Void = queue.barrier { tx in try tx.set("k", 1) }
      while queue.waitingCount < 1 {
        try Task.checkCancellation()
        await Task.yield()
      }
      async let read = queue.read { view in try view.get("k", as: Int.self) }
      while queue.waitingCount < 2 {
        try Task.checkCancellation()
        await Task.yield()
      }
      #expect(try queue.table.get("k", as: Int.self) == nil)
      queue.resume()
      try await barrier
      #expect(try await read == 1)
    }
  }
}
