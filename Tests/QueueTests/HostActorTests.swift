import Glibc
import SharedTable
import TableTestSupport
import TestSupport
import Testing

extension Visits {
  fileprivate func visitAndFail() throws {
    try count += 1
    throw Refusal()
  }

  fileprivate func visitAndUndo() throws {
    try count += 1
    try hostTransaction { tx in
      try tx.set("other", 1)
      try count.set(100)
      throw Refusal()
    }
  }

  /// Others' barriers run between the two jobs, or this would never end.
  fileprivate func visitTwice(_ table: Table) async throws -> [Int] {
    let first = try visit()
    try await table.increment("visits")
    let queue = try BarrierQueue(in: table, label: "org.example.test")
    let read = try await queue.read { view in try view.get("visits", as: Int.self) }
    _ = try await queue.barrier { tx in try tx.increment("visits") }
    return [first, read ?? 0, try visit()]
  }

  /// - Returns: whether nobody has changed the key meanwhile, by its version.
  fileprivate func storeTwice() async throws -> Bool {
    let version = try hostTransaction { tx in
      try tx.set("k", 1)
      return try tx.entry(forKey: "k")!.version
    }
    // Goes on behind the jobs that are ready.
    await Task.yield()
    return try hostTransaction { tx in try tx.set("k", 3, if: .version(version)) }
  }

  fileprivate func store(_ number: Int) throws { try hostTransaction { tx in try tx.set("k", number) } }

  fileprivate func stay(_ inside: Door, _ leave: Door) {
    inside.open()
    leave.wait()
  }

  fileprivate func note(_ notes: Notes<String>) { notes.add("job") }

  /// Whether this job runs in a thread of the library's own.
  fileprivate var isOnLane: Bool { HostExecutor.isOnLane }
}

@globalActor private actor Everywhere: HostActor {
  static let shared = Everywhere()
  nonisolated let hostExecutor: HostExecutor

  private init() {
    do {
      hostExecutor = HostExecutor(in: try Table.temporary())
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

@Everywhere private func increment() throws -> Int {
  try Everywhere.shared.assumeIsolated { actor in try actor.hostTransaction { tx in try tx.increment("n") } }
}

/// Actors whose jobs run in barriers of a table.
@Suite struct HostActorTests {
  private static let long = Duration.seconds(600)

  @Test(arguments: Table.Variant.allCases) func aJobIsABarrier(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let visits = try Visits(table)
      #expect(try await visits.visit() == 1)
      try await visits.hostExecutor.flush()
      #expect(try table.get("visits") == 1)
      #expect(try await visits.visit() == 2)
      try await SharedValue<Int>("visits", in: table, default: 0).set(10)
      #expect(try await visits.visit() == 11)
      #expect(await visits.calls == 3)
      await #expect(throws: Refusal.self) { try await visits.visitAndFail() }
      try await visits.hostExecutor.flush()
      #expect(try table.get("visits") == 12, "an error undoes nothing")
      await #expect(throws: Refusal.self) { try await visits.visitAndUndo() }
      try await visits.hostExecutor.flush()
      #expect(try table.get("visits") == 13, "but in a transaction it does")
      #expect(try !table.contains("other"))
    }
  }

  @Test(arguments: Table.Variant.allCases) func aChangeOfItsStateKeepsTheExpiry(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let visits = try Visits(table)
      let expiry: UInt64 = 4_000_000_000_000_000_000
      try await table.set("visits", 1, expires: .at(nanosecondsSince1970: expiry))
      #expect(try await visits.visit() == 2)
      try await visits.hostExecutor.flush()
      #expect(try table.entry(forKey: "visits")?.expiry == expiry)
    }
  }

  @Test(arguments: Table.Variant.allCases) func anAwaitEndsTheJob(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      #expect(try await Visits(table).visitTwice(table) == [1, 2, 4])
    }
  }

  /// The jobs share a barrier of the table, and so what they store has one version.
  @Test(arguments: Table.Variant.allCases) func aVersionUnderWayMeetsNoCondition(_ variant: Table.Variant) async throws
  {
    try await withTable(variant) { table async throws in
      let visits = try Visits(table, timeout: Self.long)
      let holder = try Holder(table)
      async let isUnchanged = visits.storeTwice()
      await suspendUntil { visits.hostExecutor.isWaitingInLane }
      async let stored: Void = visits.store(2)
      await suspendUntil { visits.hostExecutor.waitingCount == 1 }
      holder.leave()
      try await stored
      #expect(try await !isUnchanged)
      try await visits.hostExecutor.flush()
      #expect(try table.get("k") == 2)
      try holder.join()
    }
  }

  @Test func itMayBeGlobal() async throws {
    #expect(try await increment() == 1)
    #expect(try await increment() == 2)
  }

  /// Many more jobs than the tasks of a process have threads wait for a held table; a task beside them lets it go.
  @Test(arguments: Table.Variant.allCases) func jobsHoldUpNoTaskAndShareBarriers(_ variant: Table.Variant) async throws
  {
    try await withTable(variant) { table async throws in
      let visits = try Visits(table, timeout: Self.long)
      let holder = try Holder(table)
      let (begun, version) = (Counter(), table.version)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<100 {
          group.addTask {
            begun.increment()
            try await visits.visit()
          }
        }
        group.addTask {
          await suspendUntil { begun.value >= 100 }
          holder.leave()
        }
        try await group.waitForAll()
      }
      try await visits.hostExecutor.flush()
      #expect(try table.get("visits") == 100)
      #expect(table.version - version < 100)
    }
  }

  @Test func onlyAJobThatHasToWaitTakesAThreadOfTheLibrary() async throws {
    try await withTable(.rcu) { table async throws in
      let visits = try Visits(table, timeout: Self.long)
      #expect(await !visits.isOnLane)
      try await visits.hostExecutor.flush()
      let holder = try Holder(table)
      let waiting = Task { await visits.isOnLane }
      await suspendUntil { visits.hostExecutor.isWaitingInLane }
      holder.leave()
      #expect(await waiting.value)
    }
  }

  /// Who makes a task may hold a lock that the task's first job takes.
  @Test func noJobRunsInsideTheCallThatMakesItReady() async throws {
    let (job, done) = (Locked<UInt>(0), Door())
    let thread = TestThread {
      Task { @Everywhere in
        job.withLock { $0 = UInt(pthread_self()) }
        done.open()
      }
      done.wait()
      return UInt(pthread_self())
    }
    // To wait here for the thread would keep one of Swift's few threads from running the job.
    await suspendUntil { done.isOpen }
    #expect(try thread.join() != job.withLock { $0 })
  }

  /// As they become ready, whichever threads run them.
  @Test func jobsKeepTheirOrder() async throws {
    let notes = Notes<Int>()
    let jobs = (0..<2000).map { number in Task { @Everywhere in notes.add(number) } }
    for job in jobs { await job.value }
    #expect(notes.all == Array(0..<2000))
  }

  @Test func withoutTheTableAJobRunsAndItsAccessesThrow() async throws {
    try await withTable(.rcu) { table async throws in
      let visits = try Visits(table, timeout: .milliseconds(20))
      let other = try worker(table)
      try other.ask("barrier", expecting: "in")
      let failure = await error { try await visits.visit() }
      #expect(failure?.code == .timedOut)
      #expect(failure?.holder?.pid == other.pid)
      #expect(await visits.calls == 1)
      let inTransaction = await error { try await visits.visitAndUndo() }
      #expect(inTransaction?.code == .timedOut)
      try other.ask("commit", expecting: "ok")
      #expect(try await visits.visit() == 1)
      #expect(await visits.calls == 2)
    }
  }

  @Test func ofADroppedTableEveryJobRuns() async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(name, .init(variant: .rcu, capacityBytes: 1 << 20))
      let visits = try Visits(table)
      let before = table.version
      #expect(try await visits.visit() == 1)
      // A job that comes while the first one's barrier is open shares it, and that barrier began before the drop.
      await suspendUntil { table.version > before }
      try Table.drop(name)
      #expect(await error { try await visits.visit() }?.code == .unlinked)
      #expect(await visits.calls == 2)
    }
  }

  @Test func inABarrierOfTheWholeTableItIsIsolated() throws {
    try withTable(.rcu) { table throws in
      let visits = try Visits(table)
      let executor = visits.hostExecutor
      #expect(executor.isIsolatingCurrentContext() == false)
      #expect(try table.barrier { _ in try visits.assumeIsolated { try $0.visit() } } == 1)
      let queue = try BarrierQueue(in: table, label: "org.example.test")
      #expect(try queue.sync(flags: .barrier) { _ in try visits.assumeIsolated { try $0.visit() } } == 2)
      // These exclude less than a job does.
      #expect(try table.barrier(keys: ["k"]) { _ in executor.isIsolatingCurrentContext() } == false)
      #expect(try SharedValue("v", in: table, default: 0).mutate { _ in executor.isIsolatingCurrentContext() } == false)
      #expect(try table.read { _ in executor.isIsolatingCurrentContext() } == false)
      #expect(error { try visits.count.set(1) }?.code == .invalid, "outside")
    }
  }

  /// A job that cannot have the table, because this process holds it and counts on the isolation, does not run beside it.
  @Test func noJobRunsBesideABarrierThatIsTakenForItsIsolation() async throws {
    try await withTable(.rcu) { table async throws in
      let visits = try Visits(table, timeout: .milliseconds(1))
      let (notes, inside, leave) = (Notes<String>(), Door(), Door())
      let holder = TestThread {
        try table.barrier { _ in
          visits.assumeIsolated { _ in
            inside.open()
            leave.wait()
            notes.add("barrier")
          }
        }
      }
      defer { leave.open() }
      inside.wait()
      let job = Task { await visits.note(notes) }
      await suspendUntil { visits.hostExecutor.refusals >= 2 || !notes.all.isEmpty }
      leave.open()
      await job.value
      try holder.join()
      #expect(notes.all == ["barrier", "job"])
    }
  }

  /// A barrier in which the isolation is asked for waits for a job that runs without the table, and for a limited time.
  @Test func aBarrierDoesNotWaitForAJobWithoutTheTableForEver() async throws {
    try await withTable(.rcu) { table async throws in
      let visits = try Visits(table, timeout: .milliseconds(20))
      let (inside, leave) = (Door(), Door())
      defer { leave.open() }
      let other = try worker(table)
      try other.ask("barrier", expecting: "in")
      let job = Task { await visits.stay(inside, leave) }
      await suspendUntil { inside.isOpen }
      try other.ask("commit", expecting: "ok")
      let executor = visits.hostExecutor
      let asks = { TestThread { try table.barrier { _ in executor.isIsolatingCurrentContext() } } }
      #expect(try asks().join() == false)
      leave.open()
      await job.value
      #expect(try asks().join() == true)
    }
  }

  @Test(arguments: ["host-fork 12", "host-fork-job 1"]) func inAForkedChildJobsRunOneAfterTheOther(
    _ step: String
  ) throws {
    try withTable(.rcu) { table throws in
      let words = step.split(separator: " ")
      try worker(table).ask("\(words[0])", expecting: "\(words[1])")
    }
  }

  /// The parent's job has no table either: the child is told of the fork, and asks nobody for the parent's reason.
  @Test func aChildThatIsForkedInAJobWithoutTheTableIsToldSo() throws {
    try withTable(.rcu) { table throws in try worker(table).ask("host-fork-inside", expecting: "error forked") }
  }

  @Test(arguments: Table.Variant.allCases) func processesLoseNothing(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let workers = try (0..<2).map { _ in try worker(table) }
      for worker in workers { try worker.send("host-steps 8 300") }
      for worker in workers {
        for _ in 0..<24 { try worker.expectLine("step") }
        try worker.expectLine("ok")
      }
      #expect(try table.get("first") == 4800)
      #expect(try table.get("second") == 4800)
      for worker in workers { try worker.finish() }
    }
  }

  @Test(arguments: Table.Variant.allCases) func theKilledLeaveWholeJobs(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let survivor = try worker(table)
      var random = SplitMix(seed: 7)
      for _ in 0..<6 {
        let victim = try worker(table)
        try victim.send("host-steps 8 1000000")
        try survivor.send("host-steps 4 100")
        for _ in 0..<1 + random.below(20) { try victim.expectLine("step") }
        try victim.killAndWait()
        for _ in 0..<4 { try survivor.expectLine("step") }
        try survivor.expectLine("ok")
        let (first, second) = try table.read { view in
          (try view.get("first", as: Int.self), try view.get("second", as: Int.self))
        }
        #expect(first == second)
        #expect(try table.check() == [])
      }
      #expect(try table.get("first") ?? 0 >= 6 * 400)
      try survivor.finish()
    }
  }
}
