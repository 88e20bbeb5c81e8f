import SharedMemory
import Synchronization
import TableEngine
import TableStore
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// Changes that are told when they are on the disk, and who waits for the disk without a thread. The tests say themselves how far
/// the table's store is, but one.
@Suite struct DurableEventTests {
  private func withKept(_ body: (Table) async throws -> Void) async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(name, .init(capacityBytes: 4 << 20), timeout: .seconds(100))
      try table.segment.setKeeping(.kept)
      try await body(table)
    }
  }

  @Test func nothingIsToldBeforeItIsOnTheDisk() async throws {
    try await withKept { table in
      let start = table.version
      var scan = ChangeScan(of: table, after: start, durableOnly: true)
      try table.barrier { tx in
        try tx.set("a", 1)
        try tx.set("b", 1)
      }
      let first = table.version
      try table.set("a", 2)
      #expect(try scan.next() == nil)
      #expect(scan.version == first - 1)
      try table.segment.publishDurable(first)
      let told = try [scan.next(), scan.next(), scan.next()]
      #expect(told.map { $0?.keyText } == ["a", "b", nil])
      #expect(scan.version == first)
      try table.segment.publishDurable(table.version)
      #expect(try scan.next() == .set(Array("a".utf8), version: table.version))
      #expect(try scan.next() == nil)
      #expect(scan.version == table.version)
    }
  }

  /// The same by a sequence and by a source, which wait by the watcher's thread.
  @Test func whoWaitsForChangesIsWokenByTheStore() async throws {
    try await withKept { table in
      let start = table.version
      let byTask = Mutex<[TableChange]>([])
      let task = Task {
        for try await change in table.changes(after: start, durableOnly: true) { byTask.withLock { $0.append(change) } }
      }
      let bySource = Mutex<[TableChange]>([])
      let source = table.makeChangeSource(after: start, durableOnly: true, queue: .global())
      source.setEventHandler { change in bySource.withLock { $0.append(change) } }
      source.activate()
      var expected: [TableChange] = []
      for number in 1...20 {
        try await table.set("key", number)
        expected.append(.set(Array("key".utf8), version: table.version))
        try table.segment.publishDurable(table.version)
        #expect(await comesTrue { bySource.withLock { $0 } == expected })
        #expect(await comesTrue { byTask.withLock { $0 } == expected })
      }
      source.cancel()
      task.cancel()
      try await task.value
    }
  }

  @Test func aStoreThatFailsEndsTheSequence() async throws {
    try await withKept { table in
      let start = table.version
      try await table.set("a", 1)
      let waiting = Task {
        for try await change in table.changes(after: start, durableOnly: true) { return change as TableChange? }
        return nil
      }
      try table.segment.setKeeping(.failed)
      #expect(await asyncCode { _ = try await waiting.value } == .notDurable)
      // What a table without a store would tell never comes: that is said, and not waited for.
      try table.segment.setKeeping(.none)
      #expect(await asyncCode { for try await _ in table.changes(after: 0, durableOnly: true) {} } == .notDurable)
    }
  }

  @Test func tasksWaitForTheDiskWithoutAThread() async throws {
    try await withKept { table in
      try await table.set("a", 1)
      let version = table.version
      let begun = Counter()
      @Sendable func wait(_ version: UInt64) -> Task<Void, any Error> {
        Task {
          begun.increment()
          try await table.waitUntilDurable(version, timeout: .seconds(100))
        }
      }
      let waits = (0..<200).map { _ in wait(version) }
      #expect(await comesTrue(within: .seconds(600)) { begun.value == 200 })
      #expect(await asyncCode { try await table.waitUntilDurable(version, timeout: .zero) } == .notDurable)
      try table.segment.publishDurable(version)
      for wait in waits { try await wait.value }
      // A table that was dropped is not waited for.
      try await table.set("a", 2)
      let late = wait(table.version)
      #expect(await comesTrue(within: .seconds(600)) { begun.value == 201 })
      try Table.drop(table.name)
      #expect(await asyncCode { try await late.value } == .unlinked)
    }
  }

  @Test func aCancelledWaitEndsAndTheBarrierStands() async throws {
    try await withKept { table in
      let begun = Counter()
      let wait = Task {
        begun.increment()
        try await table.waitUntilDurable(.max, timeout: .seconds(100))
      }
      #expect(await comesTrue(within: .seconds(600)) { begun.value == 1 })
      wait.cancel()
      await #expect(throws: CancellationError.self) { try await wait.value }
      let barrier = Task { try await table.barrier(durable: true, timeout: .seconds(100)) { try $0.set("a", 1) } }
      try await table.waitUntil("a", as: Int.self, timeout: .seconds(100)) { $0 == 1 }
      barrier.cancel()
      #expect(await asyncCode { try await barrier.value } == .notDurable)
      #expect(try await table.barrier(durable: false) { try $0.get("a", as: Int.self) } == 1)
    }
  }

  /// Whatever ends the wait for the disk, the barrier stands: a caller who is told that nothing changed runs it again.
  @Test func aDropDuringTheWaitDoesNotDenyTheBarrier() async throws {
    try await withKept { table in
      let other = try Table.open(table.name, timeout: .seconds(100))
      let awaited = Task { try await table.barrier(durable: true) { try $0.set("a", 1) } }
      let blocking = TestThread { code { try other.barrier(durable: true) { try $0.set("b", 1) } } }
      for key in ["a", "b"] { try await table.waitUntil(key, as: Int.self, timeout: .seconds(100)) { $0 == 1 } }
      try Table.drop(table.name)
      #expect(await asyncCode { try await awaited.value } == .notDurable)
      #expect(try blocking.join() == .notDurable)
    }
  }

  /// Whoever sleeps on one word of a table, and waits for the other, too, would learn of that when its slice is over.
  @Test func whoWaitsForACommitAndForTheDiskSleepsOnBoth() async throws {
    try await withKept { table in
      try await table.set("a", 1)
      func hasMoved(_ move: () throws -> Void) throws -> [Bool] {
        var words = SeenWords(table.segment)
        let ends = [words.showEnd(of: .commit(after: table.version)), words.showEnd(of: .disk(table.version))]
        #expect(ends == [false, false])
        var events: [(FutexEvent, UInt32)] = []
        words.append(to: &events)
        #expect(events.allSatisfy { event, seen in event.value == seen })
        try move()
        return events.map { event, seen in event.value != seen }
      }
      #expect(try hasMoved { try table.set("a", 2) } == [true, false])
      #expect(try hasMoved { try table.segment.publishDurable(table.version) } == [false, true])
    }
  }

  /// With a real store.
  @Test func anAwaitedBarrierIsOnTheDisk() async throws {
    try await withTableName { (name: String) async throws -> Void in
      try await withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20), timeout: .seconds(100))
        let keeper = try StoreKeeper(table, .everyBarrier, in: directory) { _ in }
        defer { keeper.stopAndWait() }
        #expect(await comesTrue { table.segment.keeping == .kept })
        for number in 1...20 {
          let version = try await table.barrier(durable: true) { tx in
            try tx.set("a", number)
            return number
          }
          #expect(version == number && table.durableVersion > 0)
        }
      }
    }
  }

  private func asyncCode(_ body: () async throws -> Void) async -> TableError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? TableError)?.code
    }
  }
}
