import Dispatch
import Glibc
import SharedMemory
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// A missing value is computed once on the host, whoever dies meanwhile.
@Suite struct ComputeTests {
  struct Refused: Error {}

  @Test(arguments: Table.Variant.allCases) func manyCallersOfManyProcessesComputeOnce(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(100))
      for round in 0..<3 {
        try table.set("computations", 0)
        try table.set("answers", 0)
        let workers = try (0..<2).map { _ in try cacheWorker(table) }
        for worker in workers { try worker.send("cache-storm 70 key\(round)") }
        let wrong = Counter()
        let arrived = Counter()
        onThreads(60) { _ in
          arrived.increment()
          let value = try? cache.value(forKey: "key\(round)", timeout: .seconds(600)) {
            try table.increment("computations")
            // Not before the others of this process ask too.
            while arrived.value < 60 { sched_yield() }
            return "computed"
          }
          if value != "computed" { wrong.increment() }
        }
        for worker in workers { try worker.expectLine("ok") }
        #expect(wrong.value == 0)
        #expect(try table.get("answers", as: Int.self) == 140)
        #expect(try table.get("computations", as: Int.self) == 1)
      }
    }
  }

  /// Others' writes that were submitted while the task was suspended: its thread does not wait for them.
  @Test func anAwaitedValueWaitsForEarlierWritesOnly() async throws {
    let table = try Table.temporary()
    let cache = try StringCache("c", in: table, limit: .entries(100))
    try await cache.set("k", "v")
    let (earlier, later) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    defer {
      earlier.signal()
      later.signal()
    }
    try cache.core.submitWrite {
      earlier.wait()
      return {}
    }
    let task = Task { try await cache.value(forKey: "k", orInsert: { "computed" }) }
    try #require(await comesTrue { cache.core.queue.waitingCount == 1 })
    try cache.core.submitWrite {
      later.wait()
      return {}
    }
    earlier.signal()
    #expect(try await task.value == "v")
  }

  /// Where a read would block its thread, for a barrier of the rwlock variant, a task suspends: Swift's threads serve others meanwhile.
  @Test func awaitedValuesBlockNoThreadWhileABarrierRuns() async throws {
    try await withTable(.rwlock) { table async throws in
      let cache = try StringCache("c", in: table, limit: .entries(100))
      try await cache.set("k", "v")
      let once = try SharedOnce<String>("once", in: table)
      #expect(try await once.value { "made" } == "made")
      let writer = try cacheWorker(table)
      try writer.ask("barrier", expecting: "in")
      let begun = Counter()
      let tasks = (0..<64).map { number in
        Task {
          begun.increment()
          return try await number % 2 == 0 ? cache.value(forKey: "k") { "computed" } : once.value { "another" }
        }
      }
      #expect(await comesTrue(within: .seconds(600)) { begun.value == 64 })
      await Task { @concurrent in }.value
      try writer.ask("commit", expecting: "ok")
      for (number, task) in tasks.enumerated() { #expect(try await task.value == (number % 2 == 0 ? "v" : "made")) }
      try writer.finish()
    }
  }

  /// Each look by a task that does not wait meets a barrier: its thread has no place in the queue for the table.
  @Test func awaitedValuesHaveTheirTurnBesideBarriersThatFollowEachOther() async throws {
    try await withTable(.rwlock) { made async throws in
      let table = try Table.open(made.name, timeout: .seconds(20))
      let cache = try StringCache("c", in: table, limit: .entries(100))
      try await cache.set("k", "v")
      let once = try SharedOnce<String>("once", in: table)
      #expect(try await once.value { "made" } == "made")
      let writer = try cacheWorker(table)
      let version = table.version
      try writer.ask("barriers-for-ever 20", expecting: "in")
      while table.version < version + 2 { await Task.yield() }
      for _ in 0..<3 {
        #expect(try await cache.value(forKey: "k") { "computed" } == "v")
        #expect(try await once.value { "another" } == "made")
      }
      try writer.killAndWait()
    }
  }

  @Test(arguments: Table.Variant.allCases) func aCancelledTaskHasAValueThatIsThere(_ variant: Table.Variant)
    async throws
  {
    try await withTable(variant) { table async throws in
      let cache = try StringCache("c", in: table, limit: .entries(100))
      try await cache.set("k", "v")
      let once = try SharedOnce<String>("once", in: table)
      #expect(try await once.value { "made" } == "made")
      for isInTheWay in [false, true] {
        let writer = isInTheWay ? try cacheWorker(table) : nil
        try writer?.ask("barrier", expecting: "in")
        let hit = Task {
          withUnsafeCurrentTask { unsafe $0!.cancel() }
          return try await cache.value(forKey: "k") { "computed" }
        }
        let made = Task {
          withUnsafeCurrentTask { unsafe $0!.cancel() }
          return try await once.value { "another" }
        }
        if isInTheWay, variant == .rwlock {
          #expect(await comesTrue { !cache.core.queue.isIdle && !once.place.queue.isIdle })
        }
        try writer?.ask("commit", expecting: "ok")
        #expect(try await hit.value == "v")
        #expect(try await made.value == "made")
        try writer?.finish()
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func aWaiterTakesOverWhenTheComputingProcessDies(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let computing = try cacheWorker(table)
      try computing.ask("cache-compute k theirs", expecting: "computing")
      let waiters = try (0..<3).map { _ in try cacheWorker(table) }
      for (index, waiter) in waiters.enumerated() {
        try waiter.send("cache-fetch k mine\(index)")
        try waiter.waitUntilAsleep(in: .futex)
      }
      try computing.killAndWait()
      let answers = Set(try waiters.map { try $0.readLine() })
      #expect(answers.count == 1, "one of them computed: \(answers)")
      #expect(answers.first?.hasPrefix("mine") == true)
      #expect(try table.read { view in try view.keys(prefix: "c#k") } == [])
      #expect(try problems(table) == [])
    }
  }

  @Test(arguments: Table.Variant.allCases) func aClaimEndsWithTheProgramThoughTheProcessLives(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let computing = try cacheWorker(table)
      try computing.ask("cache-compute k theirs", expecting: "computing")
      try computing.send("exec")
      let cache = try StringCache("c", in: table, limit: .entries(100))
      #expect(try cache.value(forKey: "k", timeout: .seconds(600)) { "mine" } == "mine")
      try computing.ask("open \(table.name)", expecting: "ok")
    }
  }

  @Test(arguments: Table.Variant.allCases) func whoWaitsTooLongLearnsForWhom(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let computing = try cacheWorker(table)
      try computing.ask("cache-compute k theirs", expecting: "computing")
      stop(computing)
      let cache = try StringCache("c", in: table, limit: .entries(100))
      let failure = error { _ = try cache.value(forKey: "k", timeout: .milliseconds(50)) { "mine" } }
      #expect(failure?.code == .timedOut)
      #expect(failure?.holder?.pid == computing.pid)
      #expect(failure?.message.contains("table-worker, pid \(computing.pid)") == true)
      #expect(failure?.message.contains("'k' in the cache 'c'") == true)
      // Nobody who does not ask for this key is held up.
      #expect(try cache.value(forKey: "other", timeout: .zero) { "mine" } == "mine")
      computing.kill(SIGCONT)
      try computing.ask("finish", expecting: "theirs")
      #expect(try cache.value(forKey: "k") { "mine" } == "theirs")
    }
  }

  /// What the caller who computes had waited for another before does not count.
  @Test func whoWaitsTooLongLearnsSinceWhenTheValueIsBeingComputed() throws {
    try withTable(.rcu) { table throws in
      let first = try cacheWorker(table)
      try first.ask("cache-compute k first", expecting: "computing")
      let second = try cacheWorker(table)
      try second.send("cache-compute k second")
      try second.waitUntilAsleep(in: .futex)
      let start = HostClock.monotonicNanoseconds
      try first.killAndWait()
      try second.expectLine("computing")
      let cache = try StringCache("c", in: table, limit: .entries(100))
      let failure = error { _ = try cache.value(forKey: "k", timeout: .zero) { "mine" } }
      #expect(failure?.code == .timedOut)
      #expect(failure?.holder?.pid == second.pid)
      let held = try #require(failure?.holder?.heldNanoseconds)
      #expect(held <= HostClock.monotonicNanoseconds - start)
      try second.ask("finish", expecting: "second")
    }
  }

  @Test(arguments: Table.Variant.allCases) func anErrorIsTheComputingCallersAndTheNextOneTries(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(100))
      #expect(throws: Refused.self) { try cache.value(forKey: "k") { throw Refused() } }
      let computing = try cacheWorker(table)
      try computing.ask("cache-compute k theirs", expecting: "computing")
      let waiter = try cacheWorker(table)
      try waiter.send("cache-fetch k waiters")
      try waiter.waitUntilAsleep(in: .futex)
      try computing.ask("throw", expecting: "error Refused()")
      try waiter.expectLine("waiters")
      #expect(try cache["k"] == "waiters")
    }
  }

  @Test func whatIsRemovedOrStoredMeanwhileIsNotOverwritten() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(100))
      let value = try cache.value(forKey: "removed") {
        try cache.remove("removed")
        return "from before"
      }
      #expect(value == "from before")
      #expect(try cache["removed"] == nil)
      let emptied = try cache.value(forKey: "emptied") {
        try cache.removeAll()
        return "from before"
      }
      #expect(emptied == "from before")
      #expect(try cache["emptied"] == nil)
      let stored = try cache.value(forKey: "stored") {
        try cache.set("stored", "newer")
        return "older"
      }
      #expect(stored == "newer")
      #expect(try cache["stored"] == "newer")
      #expect(try table.read { view in try view.keys(prefix: "c#k") } == [])
      #expect(try problems(table) == [])
    }
  }

  /// The cache has a line for the element, which was removed behind its back: an overwrite by the cache takes the quick way then.
  @Test(arguments: [false, true]) func whatIsStoredBehindTheCachesBackMeanwhileIsNotOverwritten(
    _ isWrittenAgain: Bool
  ) throws {
    let table = try Table.temporary()
    let cache = try StringCache("c", in: table, limit: .entries(10))
    try cache.set("k", "first")
    try table.remove("c/k")
    let value = try cache.value(forKey: "k") {
      try table.set("c/k", "other")
      if isWrittenAgain { try cache.set("k", "newer") }
      return "stale"
    }
    let expected = isWrittenAgain ? "newer" : "other"
    #expect(value == expected)
    #expect(try cache["k"] == expected)
    #expect(try table.read { view in try view.keys(prefix: "c#k") } == [])
    #expect(try problems(table) == [])
  }

  @Test func aClosureThatAsksForItsOwnKeyFailsAtOnce() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(100))
      let failure = error { _ = try cache.value(forKey: "k") { try cache.value(forKey: "k") { "inner" } } }
      #expect(failure?.code == .wouldDeadlock)
      // Another key is no trouble, and the failed one is free again.
      #expect(try cache.value(forKey: "k") { try cache.value(forKey: "l") { "inner" } } == "inner")
    }
  }

  @Test func whatCannotBeStoredLeavesNoClaim() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", in: table, limit: .bytes(10))
      let failure = error { _ = try cache.value(forKey: "k") { "much too long for this cache" } }
      #expect(failure?.code == .tooLarge)
      #expect(try cache.value(forKey: "k", timeout: .zero) { "short" } == "short")
    }
  }

  /// A reader may keep so much memory that the table takes no write at all, and no claim's removal either.
  @Test func claimsThatAReaderKeptFromBeingReleasedAreReleasedOnceItHasLeft() throws {
    try withTableName { name throws in
      let options = Table.Options(
        variant: .rcu, capacityBytes: 8 << 20, limboBudgetBytes: 256 << 10, stalledReaderPolicy: .refuse)
      let table = try Table.create(name, options)
      let cache = try StringCache("c", in: table, limit: .entries(100))
      let once = try SharedOnce<String>("o", in: table)
      let reader = try worker(table)
      let failures = error {
        _ = try once.value {
          #expect(error { _ = try cache.value(forKey: "k") { try self.fill(table, behind: reader) } }?.code == .full)
          return "lost"
        }
      }
      #expect(failures?.code == .full)
      // The attempts that follow at once find the reader still there.
      try cache.flush()
      try once.place.queue.waitUntilEmpty(timeout: nil)
      try reader.ask("end", expecting: "ok")
      #expect(try cache.value(forKey: "k", timeout: .seconds(60)) { "mine" } == "mine")
      #expect(try once.value(timeout: .seconds(60)) { "mine" } == "mine")
      #expect(try problems(table) == [])
    }
  }

  /// Has a worker read, and overwrites what it sees until the table takes no more.
  private func fill(_ table: Table, behind reader: WorkerProcess) throws -> String {
    _ = try reader.ask("read")
    var refused: TableError?
    let value = [UInt8](repeating: 1, count: 1000)
    for round in 0..<2000 where refused == nil { refused = error { try table.set("key\(round % 10)", value) } }
    #expect(refused?.code == .full)
    return "lost"
  }

  // MARK: - Tasks

  private actor Host: HostActor {
    nonisolated let hostExecutor: HostExecutor
    init(_ table: Table) { hostExecutor = HostExecutor(in: table) }

    func once() async throws -> String {
      try await SharedOnce<String>("once", in: hostExecutor.table).value { "made" }
    }

    func cached() async throws -> String {
      try await StringCache("c", in: hostExecutor.table, limit: .entries(10)).value(forKey: "k") { "made" }
    }
  }

  /// The job's barrier is in the way of the look, and the value would be computed in it.
  @Test(arguments: Table.Variant.allCases) func aJobOfAHostActorComputesNothing(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let host = Host(table)
      let failures = [await error { try await host.once() }, await error { try await host.cached() }]
      #expect(failures.map { $0?.code } == [.wouldDeadlock, .wouldDeadlock])
      try await host.hostExecutor.flush()
      #expect(table.count == 0, "no claim is left")
    }
  }

  @Test(arguments: Table.Variant.allCases) func manyTasksComputeOnce(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let cache = try StringCache("c", in: table, limit: .entries(100))
      let computations = Counter()
      let answers = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<200 {
          group.addTask {
            try await cache.value(forKey: "k", timeout: .seconds(600)) {
              computations.increment()
              for _ in 0..<50 { await Task.yield() }
              return "computed"
            }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers == Array(repeating: "computed", count: 200))
      #expect(computations.value == 1)
      #expect(try problems(table) == [])
    }
  }

  @Test(arguments: Table.Variant.allCases) func aTaskTakesOverFromADeadProcess(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let computing = try cacheWorker(table)
      try computing.ask("cache-compute k theirs", expecting: "computing")
      let cache = try StringCache("c", in: table, limit: .entries(100))
      async let waited = cache.value(forKey: "k", timeout: .seconds(600)) { "mine" }
      #expect(await comesTrue(within: .seconds(600)) { table.isAwaited })
      try computing.killAndWait()
      #expect(try await waited == "mine")
    }
  }

  @Test func aTaskThatIsCancelledWaitsNoMore() async throws {
    try await withTable(.rcu) { table async throws in
      let computing = try cacheWorker(table)
      try computing.ask("cache-compute k theirs", expecting: "computing")
      let cache = try StringCache("c", in: table, limit: .entries(100))
      let waiting = Task { try await cache.value(forKey: "k", timeout: .seconds(600)) { "mine" } }
      #expect(await comesTrue(within: .seconds(600)) { table.isAwaited })
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      try computing.ask("finish", expecting: "theirs")
    }
  }

  @Test func anErrorInATaskFreesTheKeyAndSelfRequestsFail() async throws {
    try await withTable(.rcu) { table async throws in
      let cache = try StringCache("c", in: table, limit: .entries(100))
      await #expect(throws: Refused.self) { try await cache.value(forKey: "k") { throw Refused() } }
      do {
        _ = try await cache.value(forKey: "k") { try await cache.value(forKey: "k") { "inner" } }
        Issue.record("a task waited for itself")
      } catch let error as TableError {
        #expect(error.code == .wouldDeadlock)
      }
      #expect(try await cache.value(forKey: "k", timeout: .zero) { "mine" } == "mine")
    }
  }
}
