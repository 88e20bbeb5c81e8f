import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// A value as a sequence of what it has become. A sequence that waits for what never comes ends with the test's time.
@Suite(.timeLimit(.minutes(20))) struct UpdatesTests {
  private func first<S: AsyncSequence>(_ updates: S) async throws -> S.Element? {
    var iterator = updates.makeAsyncIterator()
    return try await iterator.next()
  }

  private func wait(until condition: () -> Bool) async throws {
    while !condition() {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  // MARK: - What is told

  @Test(arguments: Table.Variant.allCases)
  func thePresentValueComesFirst(_ variant: Table.Variant) async throws {
    try await withSmallTable(variant) { table in
      let value = try SharedValue("value", in: table, default: 5)
      let counter = try SharedCounter("counter", in: table)
      let numbers = try SharedDictionary<String, Int>("numbers", in: table)
      // Begun before anything is stored.
      let early = (
        table.updates(forKey: "n", as: Int.self), value.updates, counter.updates, numbers.updates(forKey: "k")
      )
      #expect(try await first(early.0) == .some(nil))
      #expect(try await first(early.1) == 5)
      #expect(try await first(early.2) == 0)
      #expect(try await first(early.3) == .some(nil))
      try await table.set("n", 1)
      try await value.set(2)
      try await counter.increment(by: 3)
      try await numbers.set("k", 4)
      #expect(try await first(early.0) == 1)
      #expect(try await first(early.1) == 2)
      #expect(try await first(early.2) == 3)
      #expect(try await first(early.3) == 4)
      #expect(try await first(try SharedValue("value", in: table, default: 0).updates) == 2)
    }
  }

  @Test func whoKnowsTheValueIsToldTheNextOne() async throws {
    try await withSmallTable(.rcu) { table in
      try await table.set("n", 1)
      let (value, updates) = try table.valueAndUpdates(forKey: "n", as: Int.self)
      #expect(value == 1)
      let hasBegun = Atomic(false)
      let next = Task {
        var iterator = updates.makeAsyncIterator()
        hasBegun.store(true, ordering: .releasing)
        return try await iterator.next()
      }
      try await wait { hasBegun.load(ordering: .acquiring) }
      for round in 0..<100 { try await table.set("other", round) }
      next.cancel()
      #expect(try await next.value == .none)
      try await table.set("n", 2)
      #expect(try await first(updates) == 2)
    }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func theLastValueArrivesHoweverFastAnotherProcessWrites(_ variant: Table.Variant, _ access: Table.Access) async throws
  {
    try await withSmallTable(variant) { table in
      let last = 10_000
      let reader = try Table.open(table.name, access: access)
      let writer = try worker(table)
      let other = try worker(table)
      func read(_ updates: ValueUpdates<Int>, _ begin: () throws -> Void) async throws -> [Int] {
        var told: [Int] = []
        for try await value in updates {
          if told.isEmpty { try begin() }
          told.append(value)
          if value == last { break }
        }
        return told
      }
      async let counts = read(SharedCounter("n", in: reader).updates) { try writer.send("increment n \(last)") }
      async let values = read(SharedValue("m", in: reader, default: 0).updates) {
        try other.send("increment m \(last)")
      }
      for told in try await [counts, values] {
        #expect(told.first == 0 && told.last == last)
        #expect(zip(told, told.dropFirst()).allSatisfy { $0 < $1 })
      }
      for process in [writer, other] { try process.expectLine("ok") }
    }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func whatIsStoredBetweenALookAndTheWaitIsTold(_ variant: Table.Variant, _ access: Table.Access) async throws {
    try await isTold(variant, access) { _, writer in _ = try? writer.ask("set n 2") }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func theLastValueOfADroppedTableIsTold(_ variant: Table.Variant, _ access: Table.Access) async throws {
    try await isTold(variant, access) { table, writer in
      _ = try? writer.ask("set n 2")
      try? Table.drop(table.name)
    } then: { updates in
      do throws(TableError) {
        _ = try await updates.next()
        Issue.record("it goes on")
      } catch {
        #expect(error.code == .unlinked)
      }
    }
  }

  /// The table's clock is asked at the end of a look: another process stores "2" then, once, before the wait.
  private func isTold(
    _ variant: Table.Variant, _ access: Table.Access,
    _ store: @escaping @Sendable (_ table: Table, _ writer: WorkerProcess) -> Void,
    then: (inout TableUpdates<String>.AsyncIterator) async throws -> Void = { _ in }
  ) async throws {
    try await withSmallTable(variant) { table in
      let writer = try worker(table)
      let isArmed = Atomic(false)
      let reader = try Table.open(table.name, access: access) {
        if isArmed.exchange(false, ordering: .relaxed) { store(table, writer) }
        return 1_000_000_000_000
      }
      try await table.set("n", "1")
      var updates = reader.updates(forKey: "n", as: String.self).makeAsyncIterator()
      #expect(try await updates.next() == "1")
      isArmed.store(true, ordering: .relaxed)
      #expect(try await updates.next() == "2")
      let wasStoredInALook = !isArmed.load(ordering: .relaxed)
      #expect(wasStoredInALook)
      try await then(&updates)
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func aSlowReaderGetsTheNewestValueOnce(_ variant: Table.Variant) async throws {
    try await withSmallTable(variant) { table in
      let counter = try SharedCounter("n", in: table)
      let updates = counter.updates
      var (slow, other) = (updates.makeAsyncIterator(), updates.makeAsyncIterator())
      #expect(try await slow.next() == 0)
      for round in 1...3 {
        for _ in 0..<100 { try await counter.increment() }
        #expect(try await slow.next() == round * 100)
      }
      // Each reads by itself.
      #expect(try await other.next() == 300)
    }
  }

  /// What a task was told.
  private final class Told: Sendable {
    private let values = Mutex<[String]>([])

    func add(_ value: String) { values.withLock { $0.append(value) } }
    var all: [String] { values.withLock { $0 } }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func onlyTheValueItselfIsTold(_ variant: Table.Variant, _ access: Table.Access) async throws {
    try await withSmallTable(variant) { table in
      let reader = try Table.open(table.name, access: access)
      let writer = try worker(table)
      let told = Told()
      let updates = try SharedDictionary<String, String>("d", in: reader).updates(forKey: "k")
      let reading = Task {
        for try await value in updates {
          told.add(value ?? "nil")
          if value == "end" { break }
        }
      }
      try await wait { told.all.count == 1 }
      for round in 1...20 {
        // None of these is an update: other keys, a barrier that is undone, an absent key that is removed.
        for key in ["d", "d/", "d/k1", "k"] { try writer.ask("set \(key) x", expecting: "ok") }
        try writer.ask("barrier", expecting: "in")
        try writer.ask("set d/k undone", expecting: "ok")
        try writer.ask("abort", expecting: "aborted")
        if round == 1 { #expect(try writer.ask("remove d/k") == "absent") }
        // The same bytes in every other round.
        try writer.ask("set d/k \(round / 2)", expecting: "ok")
        try await wait { told.all.count > round }
      }
      try writer.ask("set d/k end", expecting: "ok")
      try await reading.value
      #expect(told.all == ["nil"] + (1...20).map { "\($0 / 2)" } + ["end"])
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func whatIsRemovedIsToldAsAbsentOrAsTheDefault(_ variant: Table.Variant) async throws {
    try await withSmallTable(variant) { table in
      let remover = try worker(table)
      let value = try SharedValue("v", in: table, default: "default")
      let texts = try SharedDictionary<String, String>("d", in: table)
      try await value.set("v")
      try await texts.set("k", "d")
      var values = value.updates.makeAsyncIterator()
      var elements = texts.updates(forKey: "k").makeAsyncIterator()
      #expect(try await values.next() == "v")
      #expect(try await elements.next() == "d")
      try remover.ask("remove v", expecting: "ok")
      #expect(try await values.next() == "default")
      try await texts.removeAll()
      #expect(try await elements.next() == .some(nil))
      try await texts.set("k", "again")
      #expect(try await elements.next() == "again")
    }
  }

  /// A clock that stands still until it was asked so often that somebody must have looked again, though nobody commits.
  private final class Clock: Sendable {
    private let asked = Atomic(0)

    var read: @Sendable () -> UInt64 {
      { 1_000_000_000_000 + (self.asked.add(1, ordering: .relaxed).newValue > 20 ? 1_000_000_000 : 0) }
    }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func theEndOfAValueIsToldThoughNobodyCommits(_ variant: Table.Variant, _ access: Table.Access) async throws {
    for hasDefault in [false, true] {
      let clock = Clock()
      try await withSmallTable(variant, clock: clock.read) { table in
        let reader = try Table.open(table.name, access: access, clock: clock.read)
        try await table.set("n", 1, expires: .after(.milliseconds(20)))
        if hasDefault {
          var updates = try SharedValue("n", in: reader, default: 5).updates.makeAsyncIterator()
          #expect(try await updates.next() == 1)
          #expect(try await updates.next() == 5)
        } else {
          var updates = reader.updates(forKey: "n", as: Int.self).makeAsyncIterator()
          #expect(try await updates.next() == 1)
          #expect(try await updates.next() == .some(nil))
        }
      }
    }
  }

  /// A clock that is set forward by a day, as after a sleep of the host, while somebody waits: by then it was asked several times.
  private final class SetClock: Sendable {
    private let asked = Atomic(Int.min)

    func isAboutToBeSet() { asked.store(0, ordering: .relaxed) }

    var read: @Sendable () -> UInt64 {
      { 1_000_000_000_000 + (self.asked.add(1, ordering: .relaxed).newValue > 5 ? 86_400_000_000_000 : 0) }
    }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func theEndOfAValueIsToldThoughTheClockIsSet(_ variant: Table.Variant, _ access: Table.Access) async throws {
    let clock = SetClock()
    try await withSmallTable(variant, clock: clock.read) { table in
      let reader = try Table.open(table.name, access: access, clock: clock.read)
      try await table.set("n", 1, expires: .after(.seconds(3600)))
      var updates = reader.updates(forKey: "n", as: Int.self).makeAsyncIterator()
      #expect(try await updates.next() == 1)
      clock.isAboutToBeSet()
      #expect(try await updates.next() == .some(nil))
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func whoWaitsForTheEndOfAValueFindsTheClockSet(_ variant: Table.Variant) async throws {
    for blocks in [false, true] {
      let clock = SetClock()
      try await withSmallTable(variant, clock: clock.read) { table in
        try await table.set("n", 1, expires: .after(.seconds(3600)))
        clock.isAboutToBeSet()
        if blocks {
          let waiter = TestThread {
            try table.waitUntil("n", as: Int.self, timeout: .seconds(600)) { $0 == nil } == nil
          }
          #expect(try waiter.join())
        } else {
          #expect(try await table.waitUntil("n", as: Int.self, timeout: .seconds(600)) { $0 == nil } == nil)
        }
      }
    }
  }

  /// Keys of elements may be any bytes; some lie in the table under others.
  @Test func everyElementsKeyIsFound() async throws {
    try await withSmallTable(.rcu) { table in
      let numbers = try SharedDictionary<[UInt8], Int>("d", in: table)
      for key in [[], [0xff], [0xff, 0], [0x2f], [0]] as [[UInt8]] {
        try await numbers.set(key, key.count)
        #expect(try await first(numbers.updates(forKey: key)) == key.count)
        #expect(try await numbers.waitUntil(key) { $0 != nil } == key.count)
      }
    }
  }

  /// Its jobs run in barriers, in which its thread cannot look at what is committed.
  private actor Follower: HostActor {
    nonisolated let hostExecutor: HostExecutor
    private let count: HostState<Int>

    init(_ table: Table) throws {
      hostExecutor = HostExecutor(in: table)
      count = try HostState("n", in: hostExecutor, default: 0)
    }

    /// Adds one whenever the count has become another, until it is the last.
    func follow(to last: Int) async throws -> [Int] {
      var told: [Int] = []
      for try await value in try SharedCounter("n", in: hostExecutor.table).updates {
        told.append(value)
        #expect(try count.value == value)
        if value == last { break }
        try count += 1
      }
      return told
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func aHostActorIsToldOfItsOwnTable(_ variant: Table.Variant) async throws {
    try await withSmallTable(variant) { table in
      let follower = try Follower(table)
      #expect(try await follower.follow(to: 20) == Array(0...20))
    }
  }

  // MARK: - What ends it

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func cancellationEndsItWhileItWaits(_ variant: Table.Variant, _ access: Table.Access) async throws {
    try await withSmallTable(variant) { table in
      let counter = try SharedCounter("n", in: try Table.open(table.name, access: access))
      for cancelsAtOnce in [true, false] {
        let told = Counter()
        let waiting = Task {
          for try await _ in counter.updates { told.increment() }
          return "ended"
        }
        if !cancelsAtOnce { try await wait { told.value > 0 } }
        waiting.cancel()
        #expect(try await waiting.value == "ended")
        #expect(told.value <= 1)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func aDropEndsItAfterTheLastValue(_ variant: Table.Variant, _ access: Table.Access) async throws {
    try await withSmallTable(variant) { table in
      let counter = try SharedCounter("n", in: table)
      var updates = try SharedCounter("n", in: try Table.open(table.name, access: access)).updates.makeAsyncIterator()
      #expect(try await updates.next() == 0)
      try await counter.increment()
      try Table.drop(table.name)
      #expect(try await updates.next() == 1)
      await #expect { try await updates.next() } throws: { ($0 as? TableError)?.code == .unlinked }
      #expect(try await updates.next() == nil)
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func whatCannotBeReadIsAnError(_ variant: Table.Variant) async throws {
    try await withSmallTable(variant) { table in
      let counter = try SharedCounter("n", in: table)
      var updates = counter.updates.makeAsyncIterator()
      #expect(try await updates.next() == 0)
      try await table.set("n", "text")
      await #expect { try await updates.next() } throws: { ($0 as? TableError)?.code == .typeMismatch }
      // It has ended, though the value is one again.
      try await table.set("n", 1)
      #expect(try await updates.next() == nil)
      #expect(try await first(counter.updates) == 1)
      await #expect { try await first(table.updates(forKey: "", as: Int.self)) } throws: {
        ($0 as? TableError)?.code == .invalid
      }
    }
  }

  /// In the rwlock variant a look has to wait for the barrier: not in the pool's threads, of which there are fewer than tasks.
  @Test(arguments: Table.Variant.allCases)
  func anOpenBarrierDoesNotBlockTheTasks(_ variant: Table.Variant) async throws {
    try await withSmallTable(variant) { table in
      // Looks that waited in spite of it would keep this task from going on until the worker's time is over.
      let reader = try Table.open(table.name, access: .participant, timeout: .seconds(1000))
      let writer = try worker(table)
      try writer.ask("set n 1", expecting: "ok")
      try writer.ask("barrier", expecting: "in")
      let begun = Counter()
      let told = Counter()
      let tasks = (0..<64).map { _ in
        Task {
          begun.increment()
          for try await value in reader.updates(forKey: "n", as: String.self) {
            told.increment()
            if value == "2" { return }
          }
        }
      }
      try await wait { begun.value == tasks.count }
      if variant == .rcu {
        try await wait { told.value == tasks.count }
      } else {
        #expect(told.value == 0)
      }
      try writer.ask("set n 2", expecting: "ok")
      try writer.ask("commit", expecting: "ok")
      for task in tasks { try await task.value }
      #expect(told.value == tasks.count * (variant == .rcu ? 2 : 1))
    }
  }
}
