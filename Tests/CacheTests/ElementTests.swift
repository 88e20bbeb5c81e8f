import Dispatch
import Glibc
import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// What a cache holds, and when it lets go of it.
@Suite struct ElementTests {
  @Test(arguments: Table.Variant.allCases) func whatWasStoredIsReadUntilItIsRemoved(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", table, limit: .entries(100))
      #expect(try cache.value(forKey: "a") == nil)
      #expect(try cache.count == 0)
      #expect(try !cache.removeValue(forKey: "a"))
      try cache.setValue("1", forKey: "a")
      try cache.setValue("2", forKey: "b")
      try cache.setValue("3", forKey: "a")
      #expect(try cache.value(forKey: "a") == "3")
      #expect(try cache.count == 2)
      #expect(try cache.totalCost == 4)
      #expect(try cache.contains("b"))
      #expect(try cache.removeValue(forKey: "a"))
      #expect(try cache.value(forKey: "a") == nil)
      #expect(try cache.count == 1)
      try cache.setValue("", forKey: "")
      #expect(try cache.value(forKey: "") == "")
      #expect(try problems(table) == [])
      // Another handle, another cache, and the elements' keys in the table.
      let other = try SharedCache<[UInt8], String>("c", table, limit: .entries(100))
      #expect(try other.value(forKey: Array("b".utf8)) == "2")
      #expect(try StringCache("d", table, limit: .entries(100)).value(forKey: "b") == nil)
      #expect(try table.get("c/b", as: String.self) == "2")
    }
  }

  @Test(arguments: Table.Variant.allCases) func growsAndShrinksAndEmpties(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", table, limit: .entries(5000))
      for index in 0..<1000 { try cache.setValue("v", forKey: "k\(index)") }
      #expect(try cache.count == 1000)
      #expect(try problems(table) == [])
      for index in 0..<990 { try cache.removeValue(forKey: "k\(index)") }
      #expect(try cache.count == 10)
      #expect(try problems(table) == [])
      #expect(try table.read { view in try view.keys(prefix: "c#r") }.count == 1)
      for index in 0..<300 { try cache.setValue("v", forKey: "k\(index)") }
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
      let cache = try StringCache("c", table, limit: .entries(20))
      for index in 0..<20 { try cache.setValue("v", forKey: "k\(index)") }
      for index in 0..<10 { _ = try cache.value(forKey: "k\(index)") }
      for index in 20..<30 { try cache.setValue("v", forKey: "k\(index)") }
      let stayed = try (0..<10).filter { try cache.contains("k\($0)") }.count
      // Two keys may share the place where their hits are noted: then one of them is forgotten.
      #expect(stayed >= 8, "but for their hits, these were the oldest")
      for index in 20..<30 { #expect(try cache.contains("k\(index)")) }
      #expect(try cache.evictionCount == 10)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aLimitInBytesHolds(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", table, limit: .bytes(1000))
      for index in 0..<200 { try cache.setValue(String(repeating: "v", count: index % 90), forKey: "k\(index % 50)") }
      #expect(try cache.totalCost <= 1000)
      #expect(try cache.totalCost > 800)
      #expect(try problems(table) == [])
      // One that needs nearly all of it.
      try cache.setValue("v", forKey: "big", cost: 999)
      #expect(try cache.totalCost <= 1000)
      #expect(try cache.contains("big"))
      #expect(error { try cache.setValue("v", forKey: "bigger", cost: 1001) }?.code == .tooLarge)
      #expect(try !cache.contains("bigger"))
      #expect(try problems(table) == [])
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

  @Test(arguments: Table.Variant.allCases) func whatHasExpiredIsGoneAndGoesFirst(_ variant: Table.Variant) throws {
    let clock = TestClock()
    try withTable(variant, clock: clock) { table throws in
      let cache = try StringCache("c", table, limit: .entries(20), timeToLive: .seconds(10))
      for index in 0..<10 { try cache.setValue("v", forKey: "short\(index)") }
      for index in 0..<10 { try cache.setValue("v", forKey: "long\(index)", expires: .never) }
      #expect(try cache.value(forKey: "short3") == "v")
      clock.advance(11)
      #expect(try cache.value(forKey: "short3") == nil)
      for index in 0..<10 { try cache.setValue("v", forKey: "new\(index)") }
      for index in 0..<10 {
        #expect(try cache.contains("long\(index)"), "an expired one went in its place")
        #expect(try cache.contains("new\(index)"))
      }
      #expect(try cache.count == 20)
      #expect(try problems(table) == [])
      // Renewed, it lives on.
      clock.advance(9)
      try cache.setValue("v", forKey: "new0")
      clock.advance(9)
      #expect(try cache.contains("new0"))
      #expect(try !cache.contains("new1"))
      // Removed by whoever keeps the table: no line of theirs counts for ever.
      try table.removeExpired()
      for index in 0..<20 { try cache.setValue("v", forKey: "other\(index)", expires: .never) }
      #expect(try (0..<20).allSatisfy { try cache.contains("other\($0)") })
      #expect(try cache.count == 20)
      #expect(try problems(table) == [])
    }
  }

  @Test func whatHasExpiredDoesNotCountForEver() throws {
    let clock = TestClock()
    try withTable(.rcu, clock: clock) { table throws in
      let cache = try StringCache("c", table, limit: .entries(1000), timeToLive: .seconds(1))
      for index in 0..<500 { try cache.setValue("v", forKey: "k\(index)") }
      clock.advance(2)
      for index in 0..<200 { try cache.setValue("v", forKey: "new\(index)", expires: .never) }
      #expect(try cache.count < 300, "each write strikes out some of what it passes")
      #expect(try problems(table) == [])
    }
  }

  // MARK: - Space

  @Test(arguments: Table.Variant.allCases) func aFullTableIsMadeRoomIn(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 4 << 20) { table throws in
      let cache = try StringCache("c", table, limit: .entries(1_000_000))
      let value = String(repeating: "v", count: 10_000)
      for index in 0..<1000 { try cache.setValue(value, forKey: "k\(index)") }
      #expect(try cache.value(forKey: "k999") == value)
      #expect(try cache.count > 100)
      // One that needs much at once, and small ones into what is left.
      try cache.setValue(String(repeating: "w", count: 700_000), forKey: "big")
      #expect(try cache.contains("big"))
      for index in 0..<3000 { try cache.setValue("small", forKey: "s\(index)") }
      #expect(try cache.value(forKey: "s2999") == "small")
      #expect(try problems(table).filter { $0 != "a line without its element" } == [])
    }
  }

  // MARK: - Soon

  @Test func aWriteThatNobodyWaitsForComesInOrder() throws {
    try withTable(.rcu) { table throws in
      let errors = Mutex<[TableError.Code]>([])
      let told = DispatchSemaphore(value: 0)
      let cache = try StringCache(
        "c", table, limit: .bytes(200),
        onError: { error in
          errors.withLock { $0.append(error.code) }
          told.signal()
        })
      for index in 0..<3000 { try cache.setObject("\(index)", forKey: "a", waitUntilDone: false) }
      try cache.setObject("b", forKey: "b", waitUntilDone: true)
      #expect(try cache.value(forKey: "a") == "2999")
      #expect(try cache.value(forKey: "b") == "b")
      try cache.setObject(String(repeating: "v", count: 500), forKey: "c", waitUntilDone: false)
      try cache.waitUntilWritten()
      // It is told of once the queue has moved on.
      #expect(told.wait(timeout: .now() + .seconds(60)) == .success)
      #expect(errors.withLock { $0 } == [.tooLarge])
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatAThreadSubmittedIsSeenByWhatItDoesNext(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", table, limit: .entries(10))
      for number in 1...300 {
        try cache.setObject("\(number)", forKey: "k", waitUntilDone: false)
        #expect(try cache.value(forKey: "k") == "\(number)")
        try cache.setObject("\(number)", forKey: "gone", waitUntilDone: false)
        #expect(try cache.contains("gone"))
        try cache.setObject("\(number)", forKey: "gone", waitUntilDone: false)
        #expect(try cache.removeValue(forKey: "gone"))
        #expect(try !cache.contains("gone"))
        try cache.setObject("\(number)", forKey: "counted", waitUntilDone: false)
        #expect(try cache.count == 2)
        try cache.setObject("first", forKey: "k", waitUntilDone: false)
        try cache.setValue("second", forKey: "k")
        #expect(try cache.value(forKey: "k") == "second")
        try cache.setObject("first", forKey: "k", waitUntilDone: false)
        try cache.removeAll()
        #expect(try cache.count == 0)
      }
    }
  }

  @Test func inASectionACacheIsWhatItWasAtItsBeginning() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", table, limit: .entries(10))
      try cache.setValue("old", forKey: "k")
      let other = try worker(table)
      try other.ask("barrier", expecting: "in")
      try table.read { _ in
        try cache.setObject("new", forKey: "k", waitUntilDone: false)
        #expect(try cache.value(forKey: "k") == "old", "without waiting for the other's barrier")
      }
      try other.ask("commit", expecting: "ok")
      #expect(try cache.value(forKey: "k") == "new")
      try other.finish()
    }
  }

  @Test func whoIsToldOfAFailedWriteMayUseTheCache() throws {
    try withTable(.rcu) { table throws in
      let cacheInHandler = Mutex<StringCache?>(nil)
      let seen = Mutex<[String?]>([])
      let cache = try StringCache(
        "c", table, limit: .bytes(200),
        onError: { _ in
          let value = cacheInHandler.withLock { $0 }.flatMap { cache in try? cache.value(forKey: "k") }
          seen.withLock { $0.append(value) }
        })
      cacheInHandler.withLock { $0 = cache }
      try cache.setValue("v", forKey: "k")
      for _ in 0..<20 {
        try cache.setObject(String(repeating: "v", count: 500), forKey: "k", waitUntilDone: false)
        try cache.waitUntilWritten()
      }
      // Who is told comes after who is waited for.
      while seen.withLock({ $0.count }) < 20 { usleep(500) }
      #expect(seen.withLock { $0 } == Array(repeating: "v", count: 20))
      cacheInHandler.withLock { $0 = nil }
    }
  }

  @Test(arguments: Table.Variant.allCases) func waitingForWritesHasAnEnd(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", table, limit: .entries(10))
      // With nothing to wait for, anywhere.
      try table.read { _ in try cache.waitUntilWritten() }
      let other = try worker(table)
      try other.ask("barrier", expecting: "in")
      try cache.setObject("v", forKey: "k", waitUntilDone: false)
      let late = error { try cache.waitUntilWritten(timeout: .milliseconds(20)) }
      #expect(late?.code == .timedOut)
      #expect(late?.message.hasPrefix("the cache 'c': ") == true, "\(String(describing: late))")
      try other.ask("commit", expecting: "ok")
      try cache.waitUntilWritten()
      #expect(try cache.value(forKey: "k") == "v")
      try table.barrier { (_: inout Transaction) throws in
        try cache.setObject("w", forKey: "k", waitUntilDone: false)
        #expect(error { try cache.waitUntilWritten() }?.code == .wouldDeadlock)
      }
      try cache.waitUntilWritten()
      #expect(try cache.value(forKey: "k") == "w")
    }
  }

  // MARK: - Who may not

  @Test(arguments: Table.Variant.allCases) func anObserverReadsAndCannotWrite(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try StringCache("c", table, limit: .entries(10)).setValue("v", forKey: "k")
      let observer = try Table.open(table.name, access: .observer)
      let cache = try StringCache("c", observer, limit: .entries(10))
      #expect(try cache.value(forKey: "k") == "v")
      #expect(try cache.value(forKey: "k", orInsert: { "w" }) == "v")
      #expect(try cache.count == 1)
      #expect(error { try cache.setValue("w", forKey: "k") }?.code == .notPermitted)
      #expect(error { _ = try cache.value(forKey: "l", orInsert: { "w" }) }?.code == .notPermitted)
    }
  }

  @Test func aSectionOfTheTableIsNoPlaceToWrite() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", table, limit: .entries(10))
      try table.read { _ in
        #expect(error { try cache.setValue("w", forKey: "k") }?.code == .wouldDeadlock)
        #expect(error { _ = try cache.value(forKey: "k", orInsert: { "w" }) }?.code == .wouldDeadlock)
      }
    }
  }

  @Test func namesAndLimitsThatCannotBeAreRefused() throws {
    try withTable(.rcu) { table throws in
      for name in ["", "a/b", "a#k", String(repeating: "n", count: 201)] {
        #expect(error { _ = try StringCache(name, table, limit: .entries(1)) }?.code == .invalid)
        #expect(error { _ = try SharedOnce<Int>(name, table) }?.code == .invalid)
      }
      #expect(error { _ = try StringCache("c", table, limit: .entries(0)) }?.code == .invalid)
      #expect(error { _ = try StringCache("c", table, limit: .bytes(-1)) }?.code == .invalid)
    }
  }
}
