import Glibc
import SharedTable
import TableTestSupport
import TestSupport
import Testing

extension Visits {
  fileprivate func note(_ note: Int, _ notes: Notes<Int>) { notes.add(note) }

  fileprivate func wait(_ inside: Door, _ goOn: Door, _ notes: Notes<Int>) {
    inside.open()
    goOn.wait()
    notes.add(1)
  }

  /// In a job: the call waits until the job has ended.
  fileprivate func visitThenRun() async throws -> Int {
    try visit()
    return try await hostRun { visits in try visits.visit() }
  }
}

/// Closures that run in a host actor's isolation without a call of a method.
@Suite(.timeLimit(.minutes(10))) struct HostRunTests {
  private static let long = Duration.seconds(600)

  @Test(arguments: Table.Variant.allCases) func isCommittedWhenItReturns(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let visits = try Visits(table)
      #expect(try await visits.hostRun { visits in try visits.visit() } == 1)
      #expect(try table.get("visits") == 1)
      #expect(try await visits.visit() == 2)
      #expect(try await visits.hostRun { visits in try visits.visit() } == 3)
      #expect(try table.get("visits") == 3)
      #expect(await visits.calls == 3)
    }
  }

  /// What stands before it in a barrier may take the room that it needs. It waits for a barrier of its own, since it changes the actor's own
  /// properties too.
  @Test func oneThatFindsNoRoomAmongOthersIsNotRunTwice() async throws {
    let table = try Table.temporary(capacityBytes: 2 << 20)
    let visits = try Visits(table)
    let queue = visits.hostExecutor.queue
    let big = String(repeating: "x", count: 500_000)
    try await visits.visit()
    for key in ["one", "two"] { try await table.set(key, big) }
    queue.suspend()
    try queue.async(flags: .barrier) { tx in try tx.set("one", big) }
    let run = Task {
      try await visits.hostRun { visits in
        try visits.visit()
        try visits.hostTransaction { tx in try tx.set("two", big) }
      }
    }
    await suspendUntil { visits.hostExecutor.waitingCount == 2 }
    queue.resume()
    try await run.value
    #expect(await visits.calls == 2)
    #expect(try table.get("visits") == 2)
  }

  @Test func runsOnTheCallersThreadIfNothingIsInItsWay() async throws {
    try await withTable(.rcu) { table async throws in
      let visits = try Visits(table)
      func threads() async throws -> (UInt, UInt) {
        (UInt(pthread_self()), try await visits.hostRun { _ in UInt(pthread_self()) })
      }
      let (caller, runner) = try await threads()
      #expect(caller == runner)
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatAFailedOneChangedIsUndone(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let visits = try Visits(table)
      try await visits.visit()
      await #expect(throws: Refusal.self) {
        try await visits.hostRun { visits in
          try visits.visit()
          throw Refusal()
        }
      }
      #expect(try await visits.hostRun { visits in try visits.count.value } == 1)
      #expect(await visits.calls == 2, "what is the process's own stays")
    }
  }

  /// Behind a job that was ready before, while the table is held.
  @Test(arguments: Table.Variant.allCases) func takesItsTurnAmongTheJobs(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let visits = try Visits(table, timeout: Self.long)
      let holder = try Holder(table)
      let notes = Notes<Int>()
      let job = Task { await visits.note(1, notes) }
      await suspendUntil { visits.hostExecutor.isWaitingInLane }
      let run = Task { try await visits.hostRun { visits in visits.note(2, notes) } }
      await suspendUntil { visits.hostExecutor.waitingCount >= 1 || !notes.all.isEmpty }
      let last = Task { await visits.note(3, notes) }
      await suspendUntil { visits.hostExecutor.waitingCount >= 2 || !notes.all.isEmpty }
      #expect(notes.all == [])
      holder.leave()
      await job.value
      try await run.value
      await last.value
      #expect(notes.all == [1, 2, 3])
    }
  }

  @Test(arguments: Table.Variant.allCases) func insideAJobItComesAfterThat(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in #expect(try await Visits(table).visitThenRun() == 2) }
  }

  @Test func neverRunsWithoutTheTable() async throws {
    try await withTable(.rcu) { table async throws in
      let visits = try Visits(table, timeout: .milliseconds(20))
      let other = try worker(table)
      try other.ask("barrier", expecting: "in")
      let failure = await error { try await visits.hostRun { visits in try visits.visit() } }
      #expect(failure?.code == .timedOut)
      #expect(failure?.holder?.pid == other.pid)
      #expect(await visits.calls == 0)
      try other.ask("commit", expecting: "ok")
      let observing = try Visits(try Table.open(table.name, access: .observer))
      #expect(await error { try await observing.hostRun { visits in try visits.visit() } }?.code == .notPermitted)
      #expect(await observing.calls == 0)
    }
  }

  @Test func ofACancelledTaskItDoesNotRun() async throws {
    try await withTable(.rcu) { table async throws in
      let visits = try Visits(table, timeout: Self.long)
      let holder = try Holder(table)
      let run = Task { try await visits.hostRun { visits in try visits.visit() } }
      await suspendUntil { visits.hostExecutor.isWaitingInLane }
      run.cancel()
      holder.leave()
      await #expect(throws: CancellationError.self) { try await run.value }
      #expect(await visits.calls == 0)
    }
  }

  /// Jobs that find the table held by this process run without it, one at a time. A closure never runs beside one.
  @Test func excludesJobsThatRunWithoutTheTable() async throws {
    try await withTable(.rcu) { table async throws in
      let visits = try Visits(table, timeout: .milliseconds(1))
      let (inside, goOn, notes) = (Door(), Door(), Notes<Int>())
      let other = try worker(table)
      try other.ask("barrier", expecting: "in")
      let job = Task { await visits.wait(inside, goOn, notes) }
      await suspendUntil { inside.isOpen }
      try other.ask("commit", expecting: "ok")
      let run = Task { try await visits.hostRun { visits in visits.note(2, notes) } }
      await suspendUntil { visits.hostExecutor.waitingCount >= 1 || !notes.all.isEmpty }
      #expect(notes.all == [])
      goOn.open()
      await job.value
      try await run.value
      #expect(notes.all == [1, 2])
    }
  }
}
