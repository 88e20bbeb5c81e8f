import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// Many queues whose barriers wait for one table.
@Suite struct CrowdTests {
  /// More than may wait for it in lanes, on any machine with up to 32 processors.
  private static let many = 80
  private static let long = Duration.seconds(600)

  /// - Parameter body: runs while the table is held; gets a barrier's item for each of the queues.
  private func withCrowd(_ body: (Table, [BarrierQueue], [WorkItem<Int>]) throws -> Void) throws {
    try withQueue(.rcu) { queue throws in
      let table = queue.table
      let holder = try Holder(table)
      defer { holder.leave() }
      let queues = try (0..<Self.many).map { try BarrierQueue(in: table, label: "org.example.q\($0)") }
      let items = try queues.map { queue in
        try queue.async(flags: .barrier, timeout: Self.long) { tx in try tx.increment("n") }
      }
      waitUntil { queues.allSatisfy { $0.turnsWaiting == 1 || $0.isSteppedBack } }
      try body(table, queues, items)
      holder.leave()
      try holder.join()
      let cancelled = try items.count { item in
        do {
          _ = try item.wait(timeout: Self.long)
          return false
        } catch is CancellationError {
          return true
        }
      }
      #expect(try table.get("n") == Self.many - cancelled)
      #expect(cancelled <= 1)
      waitUntil { queues.allSatisfy(\.isIdle) }
    }
  }

  @Test func fewWaitInLanesAndNoneIsForgotten() throws {
    try withCrowd { _, queues, _ throws in
      #expect(queues.count { $0.isSteppedBack } >= Self.many - 64)
      #expect(queues.count { $0.turns > 0 } == queues.count { $0.turnsWaiting > 0 })
    }
  }

  /// A lane that waits so counts as at work.
  @Test func aTurnThatStepsBackDoesNotWaitBefore() throws {
    try withCrowd { table, queues, _ throws in
      #expect(queues.contains { $0.isSteppedBack })
      let one = try BarrierQueue(in: table, label: "org.example.one")
      #expect(one.stepsBackAtOnce(BarrierWork(one, nil), .never))
      #expect(!one.stepsBackAtOnce(BarrierWork(one, nil), Deadline(at: 0)), "it says who is in the way")
      let free = try BarrierQueue(in: Table.temporary(), label: "org.example.free")
      #expect(!free.stepsBackAtOnce(BarrierWork(free, nil), .never))
    }
  }

  @Test func whatSteppedBackIsCancelledAndItsQueueGoesOn() throws {
    try withCrowd { _, queues, items throws in
      let index = try #require(queues.indices.last { queues[$0].isSteppedBack })
      let read = try queues[index].async { view in try view.get("n") ?? 0 }
      #expect(items[index].cancel())
      #expect(try read.wait(timeout: Self.long) == 0)
      let next = try queues[index].async(flags: .barrier, timeout: Self.long) { _ in }
      waitUntil { queues[index].isSteppedBack }
      #expect(next.cancel())
    }
  }

  /// What is submitted behind it has its turn at once.
  @Test func whatWasCancelledInItsTurnDoesNotStepBack() throws {
    let queue = try BarrierQueue(in: Table.temporary(), label: "org.example.cancelled")
    var order = SubmissionOrder(queue.gate, limit: 4)
    let (first, second) = (BarrierWork(queue, nil), BarrierWork(queue, nil))
    for work in [first, second] { order.submit(work) }
    #expect(order.turnsToRequest(width: 1, mostWaiting: 1) == 1)
    #expect(order.beginTurn() === first)
    // As `cancel` does.
    let (isClaimed, isWithdrawn) = (first.claim(), order.withdraw(first))
    #expect(isClaimed && !isWithdrawn)
    let hasSteppedBack = order.stepBack(first)
    #expect(!hasSteppedBack)
    #expect(!order.isSteppedBack && order.barriers == 1 && order.turnsUnderWay == 0)
    #expect(order.turnsToRequest(width: 1, mostWaiting: 1) == 1)
    #expect(order.beginTurn() === second)
    let secondStepsBack = order.stepBack(second)
    #expect(secondStepsBack && order.isSteppedBack)
    // A list that ends keeps what is still in it.
    let isTakenOut = order.withdraw(second)
    #expect(isTakenOut)
  }

  @Test func whatSteppedBackTimesOutInTime() throws {
    try withCrowd { table, _, _ throws in
      let hasty = try BarrierQueue(in: table, label: "org.example.hasty")
      let item = try hasty.async(flags: .barrier, timeout: .milliseconds(50)) { _ in }
      let failure = error { try item.wait(timeout: Self.long) as Void }
      #expect(failure?.code == .timedOut)
      #expect(failure?.holder != nil, "it names who holds the table")
    }
  }

  @Test func whatSteppedBackIsNotKeptUntilItsTimeout() throws {
    weak var handle: Table?
    try withCrowd { table, queues, _ throws in
      #expect(queues.contains { $0.isSteppedBack })
      handle = table
    }
    #expect(eventually { handle == nil }, "nothing holds a queue, and with it the table, whose work has ended")
  }

  @Test func whatCameLaterDoesNotFailWithIt() throws {
    try withCrowd { table, _, _ throws in
      let hasty = try BarrierQueue(in: table, label: "org.example.hasty")
      let first = try hasty.async(flags: .barrier, timeout: .seconds(5)) { _ in }
      waitUntil { hasty.isSteppedBack || first.isFinished }
      let second = try hasty.async(flags: .barrier, timeout: .seconds(600)) { _ in }
      let (told, isCancelled) = (Door(), Notes<Bool>())
      first.whenFinished { _ in
        // What has failed with the first cannot be cancelled any more.
        isCancelled.add(second.cancel())
        told.open()
      }
      told.wait()
      #expect(isCancelled.all == [true])
    }
  }

  @Test func othersWorkGoesOn() throws {
    try withCrowd { table, _, _ throws in
      #expect(
        try BarrierQueue(in: table, label: "org.example.reads").async { view in try view.count() }.wait(
          timeout: Self.long)
          == 0)
      let free = try BarrierQueue(in: Table.temporary(), label: "org.example.free")
      #expect(try free.async(flags: .barrier) { tx in try tx.increment("n") }.wait(timeout: Self.long) == 1)
    }
  }
}
