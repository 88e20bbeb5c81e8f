import SharedTable
import SharedTableFoundation
import TableTestSupport
import TestSupport
import Testing

/// The writes of tables, collections and caches for asynchronous code: what makes them wait.
@Suite struct AwaitedWritesTests {
  private static let long = Duration.seconds(600)

  /// One write each of everything that has writes.
  private static func writes(_ table: Table) throws -> [@Sendable () async throws -> Void] {
    let value = try SharedValue<Int>("value", in: table, default: 0)
    let counter = try SharedCounter("counter", in: table)
    let array = try SharedArray<Int>("array", in: table)
    let dictionary = try SharedDictionary<String, Int>("dictionary", in: table)
    let set = try SharedSet<String>("set", in: table)
    let cache = try SharedCache<String, Int>("cache", in: table, limit: .entries(100))
    return [
      { _ = try await table.set("key", 1, timeout: long) },
      { _ = try await table.set("coded", codable: [1], timeout: long) },
      { _ = try await table.increment("number", timeout: long) },
      { _ = try await table.barrier(timeout: long) { tx in try tx.increment("barriers") } },
      { _ = try await table.barrier(keys: ["keyed"], timeout: long) { tx in try tx.increment("keyed") } },
      { try await value.set(1, timeout: long) },
      { try await counter.increment(timeout: long) },
      { try await array.append(1, timeout: long) },
      { try await dictionary.set("a", 1, timeout: long) },
      { _ = try await set.insert("a", timeout: long) },
      { try await cache.set("a", 1, timeout: long) },
    ]
  }

  /// While the table is held, many more of each than the tasks of a process have threads; a task beside them lets it go.
  @Test(arguments: Table.Variant.allCases) func noWriteHoldsUpAnotherTask(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let holder = try Holder(table)
      defer { holder.leave() }
      let begun = Counter()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let writes = try Self.writes(table)
        for write in 0..<4 * writes.count {
          group.addTask {
            begun.increment()
            try await writes[write % writes.count]()
          }
        }
        group.addTask {
          await suspendUntil { begun.value >= 4 * writes.count }
          holder.leave()
        }
        try await group.waitForAll()
      }
      try holder.join()
      #expect(try table.get("coded", codable: [Int].self) == [1])
      #expect(try table.get("number") == 4)
      #expect(try table.get("barriers") == 4)
      #expect(try table.get("keyed") == 4)
      #expect(try SharedCounter("counter", in: table).value == 4)
      #expect(try SharedArray<Int>("array", in: table).allElements() == [1, 1, 1, 1])
      #expect(try SharedDictionary<String, Int>("dictionary", in: table).count == 1)
      #expect(try SharedCache<String, Int>("cache", in: table, limit: .entries(100))["a"] == 1)
    }
  }

  /// A write of one key or collection waits for those who hold it, and not for those who hold others.
  @Test(arguments: Table.Variant.allCases) func aHeldKeyHoldsUpWritesOfItOnly(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let (inside, leave) = (Door(), Door())
      let holder = TestThread {
        try table.barrier(keys: ["held"]) { tx in
          try tx.increment("held")
          inside.open()
          leave.wait()
        }
      }
      defer { leave.open() }
      inside.wait()
      async let held = table.increment("held", timeout: Self.long)
      #expect(try await table.increment("other", timeout: Self.long) == 1)
      try await SharedDictionary<String, Int>("others", in: table).set("a", 1, timeout: Self.long)
      #expect(await error { try await table.increment("held", timeout: .milliseconds(20)) }?.code == .timedOut)
      leave.open()
      #expect(try await held == 2)
      try holder.join()
    }
  }

  @Test func whoIsInTheWayIsNamed() async throws {
    try await withTable(.rcu) { table async throws in
      let other = try worker(table)
      try other.ask("barrier", expecting: "in")
      let failure = await error { try await table.set("k", 1, timeout: .milliseconds(50)) }
      #expect(failure?.code == .timedOut)
      #expect(failure?.holder?.pid == other.pid)
      try other.ask("commit", expecting: "ok")
    }
  }

  @Test func aCancelledTaskWritesNothing() async throws {
    try await withTable(.rcu) { table async throws in
      for write in try Self.writes(table) {
        let task = Task {
          while !Task.isCancelled { await Task.yield() }
          try await write()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      #expect(try table.read { view in try view.count() } == 0)
    }
  }

  @Test func aWriteThatFindsNoRoomIsUndoneAndTriedOnceMore() async throws {
    try await withTable(.rcu) { table async throws in
      let tries = Counter()
      let failure = await error {
        try await table.barrier { tx in
          tries.increment()
          try tx.set("small", 1)
          for index in 0..<1000 { try tx.set("large\(index)", [UInt8](repeating: 0, count: 100_000)) }
        }
      }
      #expect(failure?.code == .full)
      #expect(tries.value == 2)
      #expect(try table.read { view in try view.count() } == 0)
    }
  }

  @Test func anErrorOfTheClosureUndoesItAndIsPassedOn() async throws {
    try await withTable(.rcu) { table async throws in
      let dictionary = try SharedDictionary<String, Int>("d", in: table)
      try await dictionary.set("a", 1)
      let tries = Counter()
      await #expect(throws: Refusal.self) {
        try await dictionary.mutate("a", default: 0) { value in
          tries.increment()
          value = 2
          throw Refusal()
        }
      }
      #expect(tries.value == 1)
      #expect(try dictionary["a"] == 1)
    }
  }
}
