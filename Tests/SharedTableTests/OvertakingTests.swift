import Glibc
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// Whoever waits for the writer lock is overtaken a bounded number of times, and holds nobody up if it does not come.
@Suite struct OvertakingTests {
  private func foremost(_ participant: Segment.Participant) -> ForemostWaiterWord {
    ForemostWaiterWord(word: participant.ctl.loadRelaxed(ControlLayout.foremostWaiter))
  }

  private func waits(_ table: Table) -> UInt64 { table.statistics.barrierWaits!.byLogarithm.reduce(0, +) }

  /// The bound to the turn: a waiter that is named, and never comes.
  @Test(arguments: Table.Variant.allCases, [true, false])
  func soManyTurnsGoBeforeAWaiterAndThenOneWaits(_ variant: Table.Variant, isVacant: Bool) throws {
    try withTable(variant) { table in
      let participant = try #require(table.segment.participant)
      try table.set("key", 0)
      let turns = participant.ctl.loadRelaxed(ControlLayout.turns)
      let named =
        isVacant ? ForemostWaiterWord(vacantSince: turns) : ForemostWaiterWord(slot: 900, since: turns, isDue: false)
      participant.ctl.storeRelaxed(ControlLayout.foremostWaiter, named.word)
      for round in 0..<WriterLockWait.overtakings { try table.set("key", Int(round)) }
      #expect(waits(table) == 0)
      #expect(foremost(participant).word == named.word)
      // Due: the next one lets it go first, in vain, and takes its name away.
      try table.set("key", 1)
      #expect(waits(table) == 1)
      #expect(foremost(participant).isNone)
      for round in 0..<100 { try table.set("key", round) }
      #expect(waits(table) == 1)
    }
  }

  @Test func whoIsDueByTimeIsLetPassAtOnce() throws {
    try withTable(.rcu) { table in
      let participant = try #require(table.segment.participant)
      let turns = participant.ctl.loadRelaxed(ControlLayout.turns)
      participant.ctl.storeRelaxed(
        ControlLayout.foremostWaiter, ForemostWaiterWord(slot: 900, since: turns, isDue: true).word)
      try table.set("key", 1)
      #expect(waits(table) == 1)
      #expect(foremost(participant).isNone)
      // Whose time is over makes its one attempt all the same, and leaves the name.
      participant.ctl.storeRelaxed(
        ControlLayout.foremostWaiter, ForemostWaiterWord(slot: 900, since: turns, isDue: true).word)
      try table.barrier(timeout: .zero) { _ in }
      #expect(!foremost(participant).isNone)
    }
  }

  /// An awaited write begins with an attempt that has no time to wait. It waits in its turn, and so takes the place of one that does not come.
  @Test func anAwaitedWriteDoesNotOvertakeWhoIsDue() async throws {
    try await withTable(.rcu) { table async throws in
      let participant = try #require(table.segment.participant)
      let turns = participant.ctl.loadRelaxed(ControlLayout.turns)
      let writes: [(Table) async throws -> Void] = [
        { try await $0.set("key", 1) }, { try await $0.barrier { tx in try tx.set("key", 2) } },
        { try await $0.increment("key") }, { try await SharedDictionary<String, Int>("d", in: $0).set("key", 1) },
      ]
      for write in writes {
        participant.ctl.storeRelaxed(
          ControlLayout.foremostWaiter, ForemostWaiterWord(slot: 900, since: turns, isDue: true).word)
        try await write(table)
        #expect(foremost(participant).isNone)
      }
    }
  }

  @Test func whoWillNotWaitLetsReadersGoFirstThatWaitedThroughABarrier() async throws {
    try await withTable(.rwlock) { table async throws in
      let ctl = try #require(table.segment.participant).ctl
      #expect(!table.segment.mustLetOthersGoFirst)
      ctl.storeRelaxed(RWLayout.hint, 1)
      #expect(table.segment.mustLetOthersGoFirst)
      // In its turn it finds that none of them is there any more.
      try await table.set("key", 1)
      #expect(!table.segment.mustLetOthersGoFirst)
    }
  }

  @Test func turnsAreComparedModuloTheirCount() {
    let last: UInt64 = 1 << 46 - 1
    let waiter = ForemostWaiterWord(slot: 3, since: last, isDue: false)
    #expect(waiter.turnsPassed(at: last) == 0)
    #expect(waiter.turnsPassed(at: last + 5) == 5)
    #expect(waiter.turnsPassed(at: last - 1) == -1)
    #expect(!waiter.isYounger(than: last + 1))
    #expect(!waiter.isYounger(than: last))
    #expect(waiter.isYounger(than: last - 1))
    #expect(ForemostWaiterWord(vacantSince: 7).isYounger(than: 7))
    #expect(waiter.isSameWait(as: ForemostWaiterWord(slot: 3, since: last, isDue: true).withSleepers()))
    #expect(!waiter.isSameWait(as: ForemostWaiterWord(slot: 4, since: last, isDue: false)))
  }

  /// A due waiter that comes late leaves W idle, so it looks again before it is due, whatever it takes the turns' length for.
  @Test func aWaiterLooksAgainBeforeItIsDue() {
    let longest = WriterLockWait.lookNanoseconds.upperBound
    #expect(WriterLockWait.untilNextLook(left: 0, afterLast: 3, in: 400) == 0)
    #expect(WriterLockWait.untilNextLook(left: -5, afterLast: 3, in: 400) == 0)
    // 20 turns of 50 ns.
    #expect((500..<1000).contains(WriterLockWait.untilNextLook(left: 20, afterLast: 40, in: 2000)))
    // One turn, which was slow: the others will not be.
    #expect(WriterLockWait.untilNextLook(left: 59, afterLast: 1, in: 400) == 800)
    #expect(WriterLockWait.untilNextLook(left: 59, afterLast: 1, in: 9000) == longest)
    // Whoever was stopped meanwhile.
    #expect(WriterLockWait.untilNextLook(left: 59, afterLast: 1, in: .max) <= longest)
  }

  /// A process that wants W again at once would have it before one that must be woken first.
  @Test(arguments: Table.Variant.allCases)
  func whoHasWaitedGoesBeforeWhoComesBack(_ variant: Table.Variant) throws {
    try withTable(variant) { table in
      let participant = try #require(table.segment.participant)
      let (holder, first, second) = (try worker(table), try worker(table), try worker(table))
      // A waiter that finds no processor for milliseconds is passed over, so not every round must do. Without the word hardly any
      // does.
      let rounds = 20
      var inOrder = 0
      for round in 0..<rounds {
        try holder.ask("barrier-then-set last \(round)", expecting: "in")
        try first.send("set first \(round)")
        try first.waitUntilAsleep(in: .futex)
        try second.send("set second \(round)")
        while !foremost(participant).isDueByTime || !foremost(participant).hasSleepers { sched_yield() }
        try holder.ask("commit", expecting: "ok")
        for worker in [first, second] { try worker.expectLine("ok") }
        let versions = try ["first", "second", "last"].map { try table.entry(forKey: $0)!.version }
        if versions[0] < versions[1] && versions[0] < versions[2] { inOrder += 1 }
      }
      #expect(inOrder > rounds / 10)
      #expect(foremost(participant).isNone)
      for worker in [holder, first, second] { try worker.finish() }
    }
  }

  /// Counted in turns: the foremost waiter is stopped, or killed, while it sleeps for W.
  @Test(arguments: Table.Variant.allCases, [SIGSTOP, SIGKILL])
  func aWaiterThatDoesNotComeHoldsUpOneBarrierOnce(_ variant: Table.Variant, signal: Int32) throws {
    try withTable(variant) { table in
      let participant = try #require(table.segment.participant)
      let (holder, waiter) = (try worker(table), try worker(table))
      try holder.ask("barrier", expecting: "in")
      try waiter.send("set key waiter")
      try waiter.waitUntilAsleep(in: .futex)
      while foremost(participant).isNone { sched_yield() }
      if signal == SIGSTOP { stop(waiter) } else { try waiter.killAndWait() }
      try holder.ask("commit", expecting: "ok")
      try holder.ask("increment n 200", expecting: "ok")
      #expect(waits(table) == 1)
      #expect(foremost(participant).isNone)
      if signal == SIGSTOP {
        waiter.kill(SIGCONT)
        try waiter.expectLine("ok")
        try waiter.finish()
      }
      try holder.finish()
    }
  }

  /// Those who sleep behind a foremost waiter that is killed are not forgotten with it.
  @Test(arguments: Table.Variant.allCases, [SIGSTOP, SIGKILL])
  func whoSleepsBehindAWaiterThatDoesNotComeHasItsTurn(_ variant: Table.Variant, signal: Int32) throws {
    try withTable(variant) { table in
      let participant = try #require(table.segment.participant)
      let (holder, first, second) = (try worker(table), try worker(table), try worker(table))
      try holder.ask("barrier", expecting: "in")
      try first.send("set key first")
      try first.waitUntilAsleep(in: .futex)
      try second.send("set key second")
      while !foremost(participant).hasSleepers { sched_yield() }
      if signal == SIGSTOP { stop(first) } else { try first.killAndWait() }
      // Nobody comes after this that could look.
      try holder.ask("commit", expecting: "ok")
      try second.expectLine("ok")
      first.kill(SIGCONT)
      if signal == SIGSTOP { try first.expectLine("ok") }
      for worker in [holder, second] { try worker.finish() }
    }
  }

  /// Two processes in loops of barriers, each a millisecond long, and a third that wants a turn now and then.
  @Test(arguments: Table.Variant.allCases)
  func twoNonstopWritersStarveNoThird(_ variant: Table.Variant) throws {
    try withTable(variant) { table in
      let nonstop = (try worker(table), try worker(table))
      let third = try worker(table)
      for worker in [nonstop.0, nonstop.1] { try worker.ask("barriers-for-ever 1", expecting: "in") }
      for round in 0..<20 { try third.ask("set key \(round)", expecting: "ok") }
      for worker in [nonstop.0, nonstop.1] { try worker.killAndWait() }
      try third.finish()
      // Some times the bound, for a waiter that finds no processor when it is let pass.
      #expect(table.statistics.barrierWaits!.mostTurns <= 10 * UInt64(WriterLockWait.overtakings))
    }
  }
}
