import Glibc
import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// Queues of several processes over one table, and what their deaths leave.
@Suite struct ProcessTests {
  @Test(arguments: Table.Variant.allCases) func aProcessKilledInItsQueuesBarrierLeavesTheTableToOthersQueues(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      try queue.table.set("k", "old")
      let victim = try worker(queue.table)
      try victim.ask("queue-barrier", expecting: "in")
      try victim.ask("set k new", expecting: "ok")
      let barrier = try queue.async(flags: .barrier, timeout: .seconds(600)) { tx in try tx.increment("n") }
      let read = try queue.async { view in try view.get("k", as: String.self) }
      waitUntil { queue.turnsWaiting == 1 }
      try victim.killAndWait()
      #expect(try barrier.wait(timeout: .seconds(600)) == 1)
      #expect(try read.wait(timeout: .seconds(600)) == "old")
    }
  }

  @Test(arguments: Table.Variant.allCases) func aProcessKilledInItsQueuesReadKeepsNobodyWaiting(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      let victim = try worker(queue.table)
      #expect(try victim.ask("queue-read").hasPrefix("in"))
      let barrier = try queue.async(flags: .barrierWaitingForReaders, timeout: .seconds(600)) { tx in
        try tx.increment("n")
      }
      // In the rcu variant it is committed, and then waits; in the other one it waits for the table.
      switch variant {
      case .rcu: #expect(try eventually { try queue.table.get("n") == 1 })
      case .rwlock: waitUntil { queue.turnsWaiting == 1 }
      }
      #expect(!barrier.isFinished)
      try victim.killAndWait()
      #expect(try barrier.wait(timeout: .seconds(600)) == 1)
    }
  }

  @Test func barriersOfTwoTablesNestedInOppositeOrdersEndWithErrorsThatNameTheHolders() throws {
    try withTable(.rcu) { first throws in
      try withTable(.rcu) { second throws in
        let (one, two) = (try worker(first), try worker(second))
        try one.ask("queue-nest \(second.name) 200", expecting: "in")
        try two.ask("queue-nest \(first.name) 60000", expecting: "in")
        try one.send("go")
        try two.send("go")
        // The one that gives up first is told of the other, who then gets both.
        #expect(try one.readLine() == "error timedOut holder \(two.pid)")
        #expect(try two.readLine() == "both")
        try one.ask("get k", expecting: "nil")
      }
    }
  }

  @Test func barriersThatWaitForEachOtherAreBothNamed() throws {
    try withTable(.rcu) { first throws in
      try withTable(.rcu) { second throws in
        let (one, two) = (try worker(first), try worker(second))
        try one.ask("queue-nest \(second.name) 300", expecting: "in")
        try two.ask("queue-nest \(first.name) 300", expecting: "in")
        try one.send("go")
        try two.send("go")
        let answers = [try one.readLine(), try two.readLine()]
        let refusals = ["error timedOut holder \(two.pid)", "error timedOut holder \(one.pid)"]
        #expect(zip(answers, refusals).contains { $0 == $1 }, "one at least gave up: \(answers)")
        // The other may get both, or give up in the moment in which the first lets go and nobody holds it.
        for (answer, refusal) in zip(answers, refusals) {
          #expect([refusal, "both", "error timedOut"].contains(answer))
        }
      }
    }
  }

  /// What a process of its own answers, whose queue is over a new table.
  private func expectAnswer(_ answer: String, to command: String) throws {
    try withTable(.rcu) { table throws in try worker(table).ask(command, expecting: answer) }
  }

  @Test func aChildsQueueThrowsForked() throws {
    try expectAnswer("forked forked forked mine", to: "queue-fork")
  }

  @Test func aChildKnowsNothingOfItsParentsWorkAndHasNoThreadsForItsOwn() throws {
    try expectAnswer("false error forked error forked error unsupported", to: "queue-fork used")
  }

  /// Nobody of the child is there to go on with: not with the queue's next work either.
  @Test(arguments: ["barrier", "read", "keys"]) func aChildThatReturnsFromAnAsynchronousClosureEnds(
    _ kind: String
  ) throws {
    try expectAnswer("2 0", to: "queue-fork-inside \(kind)")
  }

  @Test func aTurnIsTakenByAnIdleLaneThoughThereAreMoreThanEnough() throws {
    try expectAnswer("ok", to: "queue-lanes")
  }

  @Test func anAwaitedWriteThatGetsNoLaneEndsInTime() throws {
    try expectAnswer("true timedOut timedOut timedOut timedOut nil", to: "queue-busy-lanes")
  }

  @Test func barriersThatWaitForReadersHoldUpNoOtherTable() throws {
    try withTable(.rcu) { table throws in
      try table.set("n", 0)
      let (reader, other) = (try worker(table), try worker(table))
      #expect(try reader.ask("read").hasPrefix("in"))
      // More than the process may have threads for all queues, on any machine.
      try other.ask("queue-wait-for-readers 300", expecting: "1")
      try reader.ask("end", expecting: "ok")
      try other.finish()
      #expect(try table.get("n") == 300)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aSectionThatBeginsAfterAnothersBarrierEndedSeesIt(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      let other = try worker(queue.table)
      for round in 1...20 {
        #expect(try other.ask("queue-increments n 1") == "\(2 * round - 1)")
        #expect(try queue.sync { view in try view.get("n") } == 2 * round - 1)
        #expect(try queue.async(flags: .barrier) { tx in try tx.increment("n") }.wait() == 2 * round)
      }
    }
  }
}
