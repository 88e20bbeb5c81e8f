import Glibc
import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// Nobody starves, in either variant, within a queue and between processes.
@Suite struct FairnessTests {
  @Test(arguments: Table.Variant.allCases) func barriersGetInWhileReadersNeverStop(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let stop = Door()
      let entered = Counter()
      // Each hands over to the other inside its section, so that at no moment nobody reads, but by the queue's doing.
      let readers = (0..<4).map { _ in
        TestThread {
          while !stop.isOpen {
            try queue.sync { _ in
              entered.increment()
              sched_yield()
            }
          }
        }
      }
      defer { stop.open() }
      waitUntil { entered.value > 100 }
      for index in 1...50 { #expect(try queue.sync(flags: .barrier) { tx in try tx.increment("n") } == index) }
      stop.open()
      for reader in readers { try reader.join() }
    }
  }

  @Test(arguments: Table.Variant.allCases) func aBarrierWaitsForNoReadThatCameAfterIt(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let (inside, leave) = (Door(), Door())
      let first = TestThread {
        try queue.sync { _ in
          inside.open()
          leave.wait()
        }
      }
      inside.wait()
      let notes = Notes<String>()
      let barrier = TestThread { try queue.sync(flags: .barrier) { _ in notes.add("barrier") } }
      waitUntil { queue.isClosed }
      let readers = (0..<8).map { _ in TestThread { try queue.sync { _ in notes.add("read") } } }
      waitUntil { queue.waitingCount == 9 }
      #expect(notes.all == [])
      leave.open()
      for thread in [first, barrier] + readers { try thread.join() }
      #expect(notes.all == ["barrier"] + [String](repeating: "read", count: 8))
    }
  }

  @Test(arguments: Table.Variant.allCases) func readersGetInWhileBarriersNeverStop(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let stop = Door()
      let barriers = Counter()
      // Two that submit anew from within, so that at each moment a barrier waits.
      @Sendable func again(_ tx: inout Transaction) throws {
        try tx.increment("n")
        barriers.increment()
        if !stop.isOpen { try queue.async(flags: .barrier) { tx in try again(&tx) } }
      }
      for _ in 0..<2 { try queue.async(flags: .barrier) { tx in try again(&tx) } }
      waitUntil { barriers.value > 20 }
      for _ in 0..<50 {
        try queue.async { _ in }.wait(timeout: .seconds(600))
        try queue.sync(timeout: .seconds(600)) { _ in }
      }
      stop.open()
    }
  }

  @Test(arguments: Table.Variant.allCases) func aReadIsOvertakenByNoBarrierThatCameAfterIt(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      let (inside, leave) = (Door(), Door())
      let notes = Notes<String>()
      try queue.async(flags: .barrier) { _ in
        inside.open()
        leave.wait()
      }
      inside.wait()
      let read = TestThread { try queue.sync { _ in notes.add("read") } }
      waitUntil { queue.waitingCount == 1 }
      let barriers = (0..<8).map { _ in TestThread { try queue.sync(flags: .barrier) { _ in notes.add("barrier") } } }
      waitUntil { queue.waitingCount == 9 }
      leave.open()
      for thread in [read] + barriers { try thread.join() }
      #expect(notes.all == ["read"] + [String](repeating: "barrier", count: 8))
    }
  }

  @Test(arguments: Table.Variant.allCases) func processesGetTheirTurns(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      // Each of them makes its barriers as fast as it can; all come to their end, and none is lost.
      let workers = try (0..<3).map { _ in try worker(queue.table) }
      for worker in workers { try worker.send("queue-increments n 300") }
      for _ in 0..<300 {
        _ = try queue.sync(flags: .barrier, timeout: .seconds(600)) { tx in try tx.increment("n") }
      }
      for _ in 0..<100 { try queue.sync(timeout: .seconds(600)) { _ in } }
      for worker in workers { _ = try worker.readLine() }
      #expect(try queue.table.get("n") == 1200)
    }
  }
}
