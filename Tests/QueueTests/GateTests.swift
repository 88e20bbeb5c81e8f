import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// A barrier that finds nothing in its queue enters by the gate, and the queue's order learns of it from who comes next.
@Suite struct GateTests {
  /// A thread in a barrier of the queue, which has entered by the gate.
  private struct Inside {
    private let thread: TestThread<Void>
    private let door = Door()

    init(_ queue: BarrierQueue, _ notes: Notes<String>) {
      let (inside, door) = (Door(), door)
      thread = TestThread {
        try queue.sync(flags: .barrier) { _ in
          inside.open()
          door.wait()
          notes.add("first")
        }
      }
      inside.wait()
    }

    func leave() throws {
      door.open()
      try thread.join()
    }
  }

  /// Whatever comes first takes the gate over.
  @Test(
    arguments: Table.Variant.allCases,
    ["read", "barrier", "asynchronous read", "asynchronous barrier", "awaited read", "awaited barrier"])
  func whatIsSubmittedMeanwhileComesAfterIt(_ variant: Table.Variant, _ kind: String) async throws {
    try await withQueue(variant) { queue async throws in
      let notes = Notes<String>()
      let first = Inside(queue, notes)
      let read = { @Sendable (_: borrowing ReadView) in notes.add(kind) }
      let barrier = { @Sendable (_: inout Transaction) in notes.add(kind) }
      // Joined when the test lets go of it, once it has ended.
      var thread: TestThread<Void>?
      var task: Task<Void, any Error>?
      switch kind {
      case "read": thread = TestThread { try queue.sync(read) }
      case "barrier": thread = TestThread { try queue.sync(flags: .barrier, barrier) }
      case "asynchronous read": try queue.async(read)
      case "asynchronous barrier": try queue.async(flags: .barrier, barrier)
      case "awaited read": task = Task { try await queue.read(read) }
      default: task = Task { try await queue.barrier(barrier) }
      }
      await suspendUntil { queue.waitingCount != 0 }
      try first.leave()
      try thread?.join()
      try await task?.value
      await suspendUntil { notes.all.count >= 2 }
      #expect(notes.all == ["first", kind])
    }
  }

  /// In the order, each with its turn, though the barrier before them was not submitted there.
  @Test(arguments: Table.Variant.allCases) func severalKeepTheirOrder(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let notes = Notes<String>()
      let first = Inside(queue, notes)
      try queue.async(flags: .barrier) { _ in notes.add("second") }
      let third = TestThread { try queue.sync(flags: .barrier) { _ in notes.add("third") } }
      waitUntil { queue.waitingCount == 2 }
      let fourth = TestThread { try queue.sync { _ in notes.add("fourth") } }
      waitUntil { queue.waitingCount == 3 }
      try first.leave()
      for thread in [third, fourth] { try thread.join() }
      #expect(notes.all == ["first", "second", "third", "fourth"])
    }
  }

  @Test(arguments: Table.Variant.allCases, [true, false]) func aBarrierDoesNotEnterBesideARead(
    _ variant: Table.Variant, _ isAsynchronous: Bool
  ) throws {
    try withQueue(variant) { queue throws in
      let (inside, leave) = (Door(), Door())
      let read = { @Sendable (_: borrowing ReadView) in
        inside.open()
        leave.wait()
      }
      let reading = TestThread { if isAsynchronous { try queue.async(read).wait() } else { try queue.sync(read) } }
      inside.wait()
      // Twice: the first must leave the gate as it was.
      for _ in 0..<2 {
        let refusal = error {
          try queue.sync(flags: .barrier, timeout: .milliseconds(1)) { _ in Issue.record("beside a read") }
        }
        #expect(refusal?.code == .timedOut)
      }
      #expect(try queue.sync { _ in true }, "reads enter beside each other")
      leave.open()
      try reading.join()
      #expect(try queue.sync(flags: .barrier) { _ in true })
    }
  }

  @Test func anAwaitedBarrierWaitsForTheReadsInside() async throws {
    try await withQueue(.rcu) { queue async throws in
      let (inside, leave) = (Door(), Door())
      let read = try queue.async { _ in
        inside.open()
        leave.wait()
        return true
      }
      await suspendUntil { inside.isOpen }
      let barrier = Task { try await queue.barrier { _ in read.isFinished } }
      await suspendUntil { queue.waitingCount != 0 }
      leave.open()
      #expect(try await read.value)
      _ = try await barrier.value
    }
  }

  /// A barrier that waits saw the read counted at the gate, and nobody else comes to ask again for it.
  @Test func anAwaitedReadThatTurnedBackAsksForTheBarrierThatSawIt() async throws {
    try await withQueue(.rcu) { queue async throws in
      // A read between its count and its look at the gate.
      let stripe = try #require(queue.gate.enter(thread: 0))
      let barrier = try queue.async(flags: .barrier) { _ in true }
      // That is closed by now: it turns back, and is submitted.
      queue.gate.leave(stripe)
      let read = Task { try await queue.read { _ in true } }
      await suspendUntil { barrier.isFinished }
      // Has the order ask again, whatever was forgotten.
      queue.suspend()
      queue.resume()
      #expect(try await read.value)
      #expect(try await barrier.value)
    }
  }

  /// Its end makes no room for those whom the suspension holds back.
  @Test(arguments: Table.Variant.allCases) func aQueueThatIsSuspendedMeanwhileLetsNobodyIn(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      let notes = Notes<String>()
      let first = Inside(queue, notes)
      queue.suspend()
      try first.leave()
      #expect(error { try queue.sync(flags: .barrier, timeout: .zero) { _ in } }?.code == .timedOut)
      #expect(error { try queue.sync(timeout: .zero) { _ in } }?.code == .timedOut)
      queue.resume()
      #expect(try queue.sync(flags: .barrier) { _ in true })
    }
  }
}
