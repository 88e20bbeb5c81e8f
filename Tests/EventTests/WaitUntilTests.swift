import Dispatch
import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// Waiting for a predicate, on a thread and in a task.
@Suite struct WaitUntilTests {
  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func whatAnotherProcessStoresIsNoticed(_ variant: Table.Variant, _ access: Table.Access) throws {
    try withSmallTable(variant) { table in
      let reader = try Table.open(table.name, access: access)
      let writer = try worker(table)
      for round in 1...10 {
        let waiter = TestThread {
          try reader.waitUntil("n", as: String.self, timeout: .seconds(600)) { $0 == "\(round)" } == "\(round)"
        }
        waiter.waitUntilAsleep()
        try writer.ask("set other x", expecting: "ok")
        try writer.ask("set n \(round)", expecting: "ok")
        #expect(try waiter.join())
      }
      let waiter = TestThread {
        try reader.waitUntil("n", as: String.self, timeout: .seconds(600)) { $0 == nil } == nil
      }
      waiter.waitUntilAsleep()
      try writer.ask("remove n", expecting: "ok")
      #expect(try waiter.join())
      try writer.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func aTaskWaitsWithoutAThread(_ variant: Table.Variant, _ access: Table.Access) async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      let reader = try Table.open(name, access: access)
      // More than the pool has threads.
      let waiters = (0..<64).map { index in
        Task { try await reader.waitUntil("n", as: Int.self, timeout: .seconds(600)) { ($0 ?? 0) > index } }
      }
      for value in 1...64 { try await table.set("n", value) }
      for (index, waiter) in waiters.enumerated() { #expect(try await waiter.value! > index) }
    }
  }

  /// In the rwlock variant a look has to wait for the barrier: not in the pool's threads.
  @Test(arguments: Table.Variant.allCases)
  func anOpenBarrierDoesNotBlockTheTasks(_ variant: Table.Variant) async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      let writer = try worker(table)
      try writer.ask("barrier", expecting: "in")
      let begun = Counter()
      let waiters = (0..<64).map { _ in
        Task {
          begun.increment()
          return try await table.waitUntil("n", as: String.self, timeout: .seconds(600)) { $0 != nil }
        }
      }
      #expect(await comesTrue(within: .seconds(600)) { begun.value == 64 })
      try writer.ask("set n 1", expecting: "ok")
      try writer.ask("commit", expecting: "ok")
      for waiter in waiters { #expect(try await waiter.value == "1") }
      try writer.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func itEndsByTimeoutCancellationOrDrop(_ variant: Table.Variant) async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      await #expect { try await table.waitUntil("n", as: Int.self, timeout: .milliseconds(30)) { $0 != nil } } throws: {
        ($0 as? TableError)?.code == .timedOut
      }
      let looks = Counter()
      func wait() -> Task<Int?, any Error> {
        Task {
          try await table.waitUntil("n", as: Int.self, timeout: .seconds(600)) {
            looks.increment()
            return $0 != nil
          }
        }
      }
      let cancelled = wait()
      #expect(await comesTrue(within: .seconds(600)) { looks.value > 0 })
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      struct Refusal: Error {}
      await #expect(throws: Refusal.self) { try await table.waitUntil("n", as: Int.self) { _ in throw Refusal() } }
      let before = looks.value
      let orphan = wait()
      #expect(await comesTrue(within: .seconds(600)) { looks.value > before })
      try Table.drop(name)
      await #expect { try await orphan.value } throws: { ($0 as? TableError)?.code == .unlinked }
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func onAThreadToo(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      #expect(code { try table.waitUntil("n", as: Int.self, timeout: .milliseconds(30)) { $0 != nil } } == .timedOut)
      try table.set("n", "text")
      #expect(code { try table.waitUntil("n", as: Int.self) { $0 != nil } } == .typeMismatch)
      try table.read { _ in
        #expect(code { try table.waitUntil("n", as: String.self) { $0 != nil } } == .wouldDeadlock)
      }
    }
  }

  /// In the rwlock variant there was no look at all: that is not said to be one that found something else.
  @Test func aBarrierInTheWayAllTheTimeIsNamed() async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(name, .init(variant: .rwlock, capacityBytes: 4 << 20))
      let writer = try worker(table)
      try writer.ask("barrier", expecting: "in")
      await #expect { try await table.waitUntil("n", as: Int.self, timeout: .milliseconds(30)) { $0 != nil } } throws: {
        let error = $0 as? TableError
        return error?.code == .timedOut && "\($0)".contains("\(writer.pid)")
      }
      try writer.ask("commit", expecting: "ok")
      try writer.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func onValuesCountersAndDictionaries(_ variant: Table.Variant, _ access: Table.Access) async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      let reader = try Table.open(name, access: access)
      let value = try SharedValue("v", in: reader, default: 5)
      let counter = try SharedCounter("c", in: reader)
      let numbers = try SharedDictionary<String, Int>("d", in: reader)
      let patience = Duration.seconds(600)
      // Absent: the default, 0 and nil.
      #expect(try await value.waitUntil { _ in true } == 5)
      #expect(try await counter.waitUntil { _ in true } == 0)
      #expect(try await numbers.waitUntil("k") { _ in true } == nil)
      let threads = [
        TestThread { try value.waitUntil(timeout: patience) { $0 == 10 } == 10 },
        TestThread { try counter.waitUntil(timeout: patience) { $0 == 10 } == 10 },
        TestThread { try numbers.waitUntil("k", timeout: patience) { $0 == 10 } == 10 },
      ]
      async let reached = (
        value.waitUntil(timeout: patience) { $0 == 10 }, counter.waitUntil(timeout: patience) { $0 == 10 },
        numbers.waitUntil("k", timeout: patience) { $0 == 10 }
      )
      for thread in threads { thread.waitUntilAsleep() }
      let writer = try worker(table)
      for key in ["v", "c", "d/k"] { try writer.ask("increment \(key) 10", expecting: "ok") }
      for thread in threads { #expect(try thread.join()) }
      #expect(try await reached == (10, 10, 10))
      // Absent again.
      for key in ["v", "c", "d/k"] { try writer.ask("remove \(key)", expecting: "ok") }
      try await value.waitUntil { $0 == 5 }
      try await counter.waitUntil { $0 == 0 }
      try await numbers.waitUntil("k") { $0 == nil }
      try writer.finish()
    }
  }

  private final class Clock: Sendable {
    let now = Atomic<UInt64>(1_000_000_000_000)
    let looks = Atomic(0)

    /// Time goes on when the value was looked at three times: twice more than at first, though nobody commits.
    func look<T>(_ value: T?) -> Bool {
      if looks.add(1, ordering: .relaxed).newValue == 3 { now.add(1_000_000_000, ordering: .relaxed) }
      return value == nil
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func theEndOfAValueIsNoticedThoughNobodyCommits(_ variant: Table.Variant) async throws {
    try await withTableName { (name: String) async throws -> Void in
      for blocks in [false, true] {
        let clock = Clock()
        let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20)) {
          clock.now.load(ordering: .relaxed)
        }
        try await table.set("n", 1, expires: .after(.milliseconds(20)))
        if blocks {
          let waiter = TestThread {
            try table.waitUntil("n", as: Int.self, timeout: .seconds(600)) { clock.look($0) } == nil
          }
          #expect(try waiter.join())
        } else {
          #expect(try await table.waitUntil("n", as: Int.self, timeout: .seconds(600)) { clock.look($0) } == nil)
        }
        try Table.drop(name)
      }
    }
  }
}
