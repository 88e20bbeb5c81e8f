import Dispatch
import Glibc
@testable import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// What a cache holds, and when it lets go of it.
@Suite struct ElementTests {
  /// An element that costs as much as many others takes the place of all these at once.
  @Test func aDearElementPushesOutAllThatItHasTo() throws {
    try withTable(.rcu) { table throws in
      let cheap = CacheLedger.evictionsOfEarlierExcess + 500
      let cache = try SharedCache<Int, Int>("c", in: table, limit: .bytes(cheap))
      for key in 0..<cheap { try cache.set(key, 0, cost: 1) }
      try cache.set(-1, 0, cost: cheap - 10)
      #expect(try cache.totalCost <= cheap)
      try cache.set(-2, 0, cost: cheap)
      #expect(try cache.totalCost == cheap)
    }
  }

  /// All writers of the table wait for the barrier in which a write evicts.
  @Test func afterALimitWasLoweredEachWriteEvictsABoundedNumber() throws {
    try withTable(.rcu) { table throws in
      let larger = try SharedCache<Int, Int>("c", in: table, limit: .entries(10_000))
      let most = CacheLedger.evictionsOfEarlierExcess
      for key in 0..<(most + 500) { try larger.set(key, 0) }
      let smaller = try SharedCache<Int, Int>("c", in: table, limit: .entries(10))
      try smaller.set(-1, 0)
      #expect(try smaller.count == 501)
      try smaller.set(-2, 0)
      #expect(try smaller.count == 10)
      #expect(try table.checkCollections() == [])
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatWasStoredIsReadUntilItIsRemoved(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(100))
      #expect(try cache["a"] == nil)
      #expect(try cache.count == 0)
      #expect(try !cache.remove("a"))
      try cache.set("a", "1")
      try cache.set("b", "2")
      try cache.set("a", "3")
      #expect(try cache["a"] == "3")
      #expect(try cache.count == 2)
      #expect(try cache.totalCost == 4)
      #expect(try cache.contains("b"))
      #expect(try cache.remove("a"))
      #expect(try cache["a"] == nil)
      #expect(try cache.count == 1)
      try cache.set("", "")
      #expect(try cache[""] == "")
      #expect(try problems(table) == [])
      // Another handle, another cache, and the elements' keys in the table.
      let other = try SharedCache<[UInt8], String>("c", in: table, limit: .entries(100))
      #expect(try other[Array("b".utf8)] == "2")
      #expect(try StringCache("d", in: table, limit: .entries(100))["b"] == nil)
      #expect(try table.get("c/b", as: String.self) == "2")
    }
  }

  @Test(arguments: Table.Variant.allCases) func growsAndShrinksAndEmpties(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(5000))
      for index in 0..<1000 { try cache.set("k\(index)", "v") }
      #expect(try cache.count == 1000)
      #expect(try problems(table) == [])
      for index in 0..<990 { try cache.remove("k\(index)") }
      #expect(try cache.count == 10)
      #expect(try problems(table) == [])
      #expect(try table.read { view in try view.keys(prefix: "c#r") }.count == 1)
      for index in 0..<300 { try cache.set("k\(index)", "v") }
      try cache.removeAll()
      #expect(try cache.count == 0)
      #expect(try cache.totalCost == 0)
      #expect(try problems(table) == [])
      #expect(table.count == 2, "the head and one page are left")
    }
  }

  @Test func evictsWhatWasUsedLongestAgo() throws {
    try withTable(.rcu) { table throws in
      // So few that every eviction looks at all of them.
      let cache = try StringCache("c", in: table, limit: .entries(20))
      for index in 0..<20 { try cache.set("k\(index)", "v") }
      for index in 0..<10 { _ = try cache["k\(index)"] }
      for index in 20..<30 { try cache.set("k\(index)", "v") }
      let stayed = try (0..<10).filter { try cache.contains("k\($0)") }.count
      // Two keys may share the place where their hits are noted: then one of them is forgotten.
      #expect(stayed >= 8, "but for their hits, these were the oldest")
      for index in 20..<30 { #expect(try cache.contains("k\(index)")) }
      #expect(try cache.evictionCount == 10)
    }
  }

  private func pages(_ table: Table) throws -> Int { try table.read { view in try view.keys(prefix: "c#r") }.count }

  /// A page's lines are the sample that eviction chooses from: of pages with a line or none, it would choose anything.
  @Test func aSmallerLimitGivesTheLedgersPagesBack() throws {
    try withTable(.rcu) { table throws in
      let large = try StringCache("c", in: table, limit: .entries(5000))
      for index in 0..<5000 { try large.set("old\(index)", "v") }
      #expect(try pages(table) > 50)
      let cache = try StringCache("c", in: table, limit: .entries(20))
      for index in 0..<20 { try cache.set("k\(index)", "v") }
      #expect(try pages(table) == 1)
      for index in 0..<10 { _ = try cache["k\(index)"] }
      for index in 20..<30 { try cache.set("k\(index)", "v") }
      let stayed = try (0..<10).filter { try cache.contains("k\($0)") }.count
      #expect(stayed >= 8, "but for their hits, these were the oldest")
      for index in 20..<30 { #expect(try cache.contains("k\(index)")) }
      #expect(try problems(table) == [])
    }
  }

  @Test(arguments: Table.Variant.allCases) func aLimitInBytesHolds(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", in: table, limit: .bytes(1000))
      for index in 0..<200 { try cache.set("k\(index % 50)", String(repeating: "v", count: index % 90)) }
      #expect(try cache.totalCost <= 1000)
      #expect(try cache.totalCost > 800)
      #expect(try problems(table) == [])
      // One that needs nearly all of it.
      try cache.set("big", "v", cost: 999)
      #expect(try cache.totalCost <= 1000)
      #expect(try cache.contains("big"))
      #expect(error { try cache.set("bigger", "v", cost: 1001) }?.code == .tooLarge)
      #expect(try !cache.contains("bigger"))
      #expect(try problems(table) == [])
    }
  }

  /// To a limit in elements a cost is nothing, however large, and so is the sum of several.
  @Test func theSumOfCostsMayBeAny() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(3))
      for index in 0..<5 { try cache.set("k\(index)", "v", cost: .max) }
      #expect(try cache.count == 3)
      #expect(try cache.evictionCount == 2)
      #expect(try problems(table) == [])
      try cache.remove("k4")
      try cache.remove("k3")
      #expect(try cache.totalCost == .max)
    }
  }

  @Test(arguments: Table.Variant.allCases) func noSnapshotShowsMoreThanTheLimit(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let limit = 40
      let workers = try (0..<2).map { _ in try cacheWorker(table, limit: limit) }
      for (index, worker) in workers.enumerated() { try worker.send("cache-random \(index) 600 90") }
      var most = 0
      for worker in workers {
        while try worker.readLine() != "done" {
          try table.read { view in most = max(most, try view.keys(prefix: "c/").count) }
        }
      }
      #expect(most <= limit)
      #expect(most > limit / 2, "the workers filled it")
      #expect(try problems(table) == [])
    }
  }

  // MARK: - Time

  @Test func whatHasExpiredGivesTheLedgersPagesBack() throws {
    let clock = TestClock()
    try withTable(.rcu, clock: clock) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(5000))
      for index in 0..<2000 { try cache.set("old\(index)", "v", expires: .after(.seconds(10))) }
      let before = try pages(table)
      clock.advance(11)
      for index in 0..<400 { try cache.set("new\(index)", "v") }
      #expect(try pages(table) < before)
      // Each write gives up a page where there are less than 16 lines a page.
      #expect(try pages(table) * 16 <= cache.count + 16)
      for index in 0..<400 { #expect(try cache.contains("new\(index)")) }
      #expect(try problems(table) == [])
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatHasExpiredIsGoneAndGoesFirst(_ variant: Table.Variant) throws {
    let clock = TestClock()
    try withTable(variant, clock: clock) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(20), timeToLive: .seconds(10))
      for index in 0..<10 { try cache.set("short\(index)", "v") }
      for index in 0..<10 { try cache.set("long\(index)", "v", expires: .never) }
      #expect(try cache["short3"] == "v")
      clock.advance(11)
      #expect(try cache["short3"] == nil)
      for index in 0..<10 { try cache.set("new\(index)", "v") }
      for index in 0..<10 {
        #expect(try cache.contains("long\(index)"), "an expired one went in its place")
        #expect(try cache.contains("new\(index)"))
      }
      #expect(try cache.count == 20)
      #expect(try problems(table) == [])
      // Renewed, it lives on.
      clock.advance(9)
      try cache.set("new0", "v")
      clock.advance(9)
      #expect(try cache.contains("new0"))
      #expect(try !cache.contains("new1"))
      // Removed by whoever keeps the table: no line of theirs counts for ever.
      try table.administration.sweepExpired()
      for index in 0..<20 { try cache.set("other\(index)", "v", expires: .never) }
      #expect(try (0..<20).allSatisfy { try cache.contains("other\($0)") })
      #expect(try cache.count == 20)
      #expect(try problems(table) == [])
    }
  }

  @Test func whatHasExpiredDoesNotCountForEver() throws {
    let clock = TestClock()
    try withTable(.rcu, clock: clock) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(1000), timeToLive: .seconds(1))
      for index in 0..<500 { try cache.set("k\(index)", "v") }
      clock.advance(2)
      for index in 0..<200 { try cache.set("new\(index)", "v", expires: .never) }
      #expect(try cache.count < 300, "each write strikes out some of what it passes")
      #expect(try problems(table) == [])
    }
  }

  // MARK: - Space

  @Test(arguments: Table.Variant.allCases) func aFullTableIsMadeRoomIn(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 4 << 20) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(1_000_000))
      let value = String(repeating: "v", count: 10_000)
      for index in 0..<1000 { try cache.set("k\(index)", value) }
      #expect(try cache["k999"] == value)
      #expect(try cache.count > 100)
      // One that needs much at once, and small ones into what is left.
      try cache.set("big", String(repeating: "w", count: 700_000))
      #expect(try cache.contains("big"))
      for index in 0..<3000 { try cache.set("s\(index)", "small") }
      #expect(try cache["s2999"] == "small")
      #expect(try problems(table).filter { !$0.hasPrefix("a line without its element") } == [])
    }
  }

  /// Others that store small elements all the time keep nobody in a search for room that cannot come.
  @Test(arguments: Table.Variant.allCases)
  func anElementForWhichThereIsNoRoomIsRefusedWhileOthersStore(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 8 << 20) { table throws in
      var ballast = 0
      while error({ try table.set("b\(ballast)", [UInt8](repeating: 1, count: 64 << 10)) }) == nil { ballast += 1 }
      for number in 0..<16 { try table.remove("b\(number)") }
      let cache = try StringCache("c", in: table, limit: .entries(1_000_000))
      for index in 0..<1000 { try cache.set("s\(index)", "small") }
      let isOver = Atomic(false)
      let big = TestThread {
        defer { isOver.store(true, ordering: .releasing) }
        return error { try cache.set("big", String(repeating: "w", count: 1_500_000)) }
      }
      let stopped = Counter()
      onThreads(3) { thread in
        var index = 0
        let isOverMeanwhile = goOn(within: .seconds(600), until: { isOver.load(ordering: .acquiring) }) {
          index += 1
          // May find no room either.
          _ = try? cache.set("s\(thread)/\(index % 2000)", "small")
        }
        if !isOverMeanwhile { stopped.increment() }
      }
      #expect(stopped.value == 0, "it went on for as long as others stored")
      #expect(try big.join()?.code == .full)
      try cache.set("s", "small")
      #expect(try cache["s"] == "small")
      #expect(try problems(table).filter { !$0.hasPrefix("a line without its element") } == [])
    }
  }

  // MARK: - Soon

  @Test func aWriteThatNobodyWaitsForComesInOrder() throws {
    try withTable(.rcu) { table throws in
      let errors = Mutex<[TableError.Code]>([])
      let told = DispatchSemaphore(value: 0)
      let cache = try StringCache(
        "c", in: table, limit: .bytes(200),
        errorHandler: { error in
          errors.withLock { $0.append(error.code) }
          told.signal()
        })
      for index in 0..<3000 { try cache.set("a", "\(index)", waitUntilDone: false) }
      try cache.set("b", "b", waitUntilDone: true)
      #expect(try cache["a"] == "2999")
      #expect(try cache["b"] == "b")
      try cache.set("c", String(repeating: "v", count: 500), waitUntilDone: false)
      try cache.flush()
      // It is told of once the queue has moved on.
      #expect(told.wait(timeout: .now() + .seconds(60)) == .success)
      #expect(errors.withLock { $0 } == [.tooLarge])
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatAThreadSubmittedIsSeenByWhatItDoesNext(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(10))
      for number in 1...300 {
        try cache.set("k", "\(number)", waitUntilDone: false)
        #expect(try cache["k"] == "\(number)")
        try cache.set("gone", "\(number)", waitUntilDone: false)
        #expect(try cache.contains("gone"))
        try cache.set("gone", "\(number)", waitUntilDone: false)
        #expect(try cache.remove("gone"))
        #expect(try !cache.contains("gone"))
        try cache.set("counted", "\(number)", waitUntilDone: false)
        #expect(try cache.count == 2)
        try cache.set("k", "first", waitUntilDone: false)
        try cache.set("k", "second")
        #expect(try cache["k"] == "second")
        try cache.set("k", "first", waitUntilDone: false)
        try cache.removeAll()
        #expect(try cache.count == 0)
      }
    }
  }

  @Test func inASectionACacheIsWhatItWasAtItsBeginning() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(10))
      try cache.set("k", "old")
      let other = try worker(table)
      try other.ask("barrier", expecting: "in")
      try table.read { _ in
        try cache.set("k", "new", waitUntilDone: false)
        #expect(try cache["k"] == "old", "without waiting for the other's barrier")
      }
      try other.ask("commit", expecting: "ok")
      #expect(try cache["k"] == "new")
      try other.finish()
    }
  }

  @Test func whoIsToldOfAFailedWriteMayUseTheCache() throws {
    try withTable(.rcu) { table throws in
      let cacheInHandler = Mutex<StringCache?>(nil)
      let seen = Mutex<[String?]>([])
      let cache = try StringCache(
        "c", in: table, limit: .bytes(200),
        errorHandler: { _ in
          let value = cacheInHandler.withLock { $0 }.flatMap { cache in try? cache["k"] }
          seen.withLock { $0.append(value) }
        })
      cacheInHandler.withLock { $0 = cache }
      try cache.set("k", "v")
      for _ in 0..<20 {
        try cache.set("k", String(repeating: "v", count: 500), waitUntilDone: false)
        try cache.flush()
      }
      // Who is told comes after who is waited for.
      #expect(eventually { seen.withLock { $0.count } >= 20 })
      #expect(seen.withLock { $0 } == Array(repeating: "v", count: 20))
      cacheInHandler.withLock { $0 = nil }
    }
  }

  @Test func aFailureWithoutAHandlerIsALineOnStandardError() async throws {
    await #expect(processExitsWith: .success) {
      var ends: [Int32] = [0, 0]
      pipe(&ends)
      dup2(ends[1], STDERR_FILENO)
      try withTable(.rcu) { table throws in
        let cache = try StringCache("c", in: table, limit: .bytes(200))
        try cache.set("k", String(repeating: "v", count: 500), waitUntilDone: false)
        try cache.flush()
      }
      // Who is told comes after who is waited for. If nobody is, the alarm ends the process.
      alarm(240)
      var bytes = [UInt8](repeating: 0, count: 1024)
      read(ends[0], &bytes, bytes.count)
      let line = String(decoding: bytes, as: UTF8.self)
      #expect(line.hasPrefix("SharedTable: the cache 'c': asynchronous work failed and nobody looked: "), "\(line)")
    }
  }

  @Test(arguments: Table.Variant.allCases) func waitingForWritesHasAnEnd(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(10))
      // With nothing to wait for, anywhere.
      try table.read { _ in try cache.flush() }
      let other = try worker(table)
      try other.ask("barrier", expecting: "in")
      try cache.set("k", "v", waitUntilDone: false)
      let late = error { try cache.flush(timeout: .milliseconds(20)) }
      #expect(late?.code == .timedOut)
      #expect(late?.message.hasPrefix("the cache 'c': ") == true, "\(String(describing: late))")
      try other.ask("commit", expecting: "ok")
      try cache.flush()
      #expect(try cache["k"] == "v")
      try table.barrier { (_: inout Transaction) throws in
        try cache.set("k", "w", waitUntilDone: false)
        #expect(error { try cache.flush() }?.code == .wouldDeadlock)
      }
      try cache.flush()
      #expect(try cache["k"] == "w")
    }
  }

  // MARK: - Who may not

  @Test(arguments: Table.Variant.allCases) func anObserverReadsAndCannotWrite(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try StringCache("c", in: table, limit: .entries(10)).set("k", "v")
      let observer = try Table.open(table.name, access: .observer)
      let cache = try StringCache("c", in: observer, limit: .entries(10))
      #expect(try cache["k"] == "v")
      #expect(try cache.value(forKey: "k", orInsert: { "w" }) == "v")
      #expect(try cache.count == 1)
      #expect(error { try cache.set("k", "w") }?.code == .notPermitted)
      #expect(error { _ = try cache.value(forKey: "l", orInsert: { "w" }) }?.code == .notPermitted)
    }
  }

  @Test func aSectionOfTheTableIsNoPlaceToWrite() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(10))
      try table.read { _ in
        #expect(error { try cache.set("k", "w") }?.code == .wouldDeadlock)
        #expect(error { _ = try cache.value(forKey: "k", orInsert: { "w" }) }?.code == .wouldDeadlock)
      }
    }
  }

  @Test func namesAndLimitsThatCannotBeAreRefused() throws {
    try withTable(.rcu) { table throws in
      for name in ["", "a/b", "a#k", String(repeating: "n", count: 201)] {
        #expect(error { _ = try StringCache(name, in: table, limit: .entries(1)) }?.code == .invalid)
        #expect(error { _ = try SharedOnce<Int>(name, in: table) }?.code == .invalid)
      }
      #expect(error { _ = try StringCache("c", in: table, limit: .entries(0)) }?.code == .invalid)
      #expect(error { _ = try StringCache("c", in: table, limit: .bytes(-1)) }?.code == .invalid)
    }
  }
}
