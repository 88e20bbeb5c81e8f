import Glibc
import SharedTable
import Synchronization
import TableEngine
import TableTestSupport
import TestSupport
import Testing

/// G9: a table that is nearly full says so only when waiting for a moment would not help.
@Suite struct FullRetryTests {
  /// Large: a few writes use up the room that a full table has for replacements, so that a section which keeps them from more is young.
  private static let value = [UInt8](repeating: 1, count: 20_000)

  private static func key(_ index: Int) -> String { "k\(index)" }

  /// A full table, and beside it a reader each of whose sections keeps every old version until writes have failed three times for
  /// that. After each failure another writer, which needs no room, is the one whose barrier makes room, or finds that it cannot.
  private func withReaderInTheWay(
    isolation: isolated (any Actor)? = #isolation, _ body: (Table, _ count: Int) async throws -> Void
  ) async throws -> Int {
    try await withTableName { (name: String) async throws -> Int in
      let table = try Table.create(
        name, .init(capacityBytes: 2 << 20, limboBudgetBytes: 1 << 30, stalledReaderPolicy: .refuse))
      var count = 0
      while code({ try table.set(Self.key(count), Self.value) }) == nil { count += 1 }
      let (ended, failures) = (Counter(), Counter())
      let reader = TestThread {
        while ended.value == 0 {
          try table.read { _ in
            let before = failures.value
            while failures.value < before + 3, ended.value == 0 { usleep(50) }
          }
        }
      }
      let other = TestThread {
        let control = table.segment.controlMemory!
        while ended.value == 0 {
          if control.loadRelaxed(ControlLayout.roomWanted) != 0 {
            try table.remove("absent")
            failures.increment()
          }
          // Sleeps: the test's task has its turns among those of all tests, and needs the processor more.
          usleep(50)
        }
      }
      do {
        defer { ended.increment() }
        try await body(table, count)
      }
      try other.join()
      try reader.join()
      #expect(try table.check() == [])
      return failures.value
    }
  }

  /// Runs a write again that was refused although it may wait. On a machine that keeps threads from running, the reader was in the way
  /// for as long as writes are patient with one, or several were one after the other.
  private func expectRoom(
    isolation: isolated (any Actor)? = #isolation, _ write: () async throws -> Void
  ) async throws {
    while true {
      let begin = ContinuousClock.now
      guard let refused = await error(write) else { return }
      let isStalled = refused.holder?.heldNanoseconds ?? 0 >= 200_000_000
      try #require(isStalled || ContinuousClock.now - begin >= .milliseconds(200), "\(refused)")
    }
  }

  @Test func aSingleWriteWaitsForAReaderThatHasJustComeInItsWay() async throws {
    let failures = try await withReaderInTheWay { table, count async throws in
      for round in 0..<4 * count { try await expectRoom { try Self.set(table, round % count) } }
      for index in 0..<count / 2 { try await expectRoom { try Self.remove(table, index) } }
      #expect(table.count == count - count / 2)
    }
    #expect(failures > 2)
  }

  @Test func anAwaitedWriteWaitsToo() async throws {
    let failures = try await withReaderInTheWay { table, count async throws in
      for index in 0..<count { try await expectRoom { try await table.set(Self.key(index), Self.value) } }
      for index in 0..<count {
        try await expectRoom { try await table.barrier { tx in try tx.set(Self.key(index), Self.value) } }
      }
      for index in 0..<count / 2 { try await expectRoom { try await table.remove(Self.key(index)) } }
      #expect(table.count == count - count / 2)
    }
    #expect(failures > 2)
  }

  @Test func aMergeWaitsToo() async throws {
    let failures = try await withReaderInTheWay { table, count async throws in
      let merged = try SharedDictionary<String, [UInt8]>("merged", in: table)
      for index in 0..<4 { try await expectRoom { try Self.remove(table, index) } }
      try await expectRoom { try Self.merge([Self.key(0): Self.value], merged) }
      var filled = count
      while code({ try Self.set(table, filled) }) == nil { filled += 1 }
      for _ in 0..<4 * count { try await expectRoom { try Self.merge([Self.key(0): Self.value], merged) } }
    }
    #expect(failures > 2)
  }

  @Test func aWriteThatMayNotWaitIsRefusedAtOnce() async throws {
    _ = try await withReaderInTheWay { table, count async throws in
      var refused: TableError?
      // The other writer is another reason to be refused, and a reader that has ended since is named no more.
      for round in 0..<1000 * count where refused?.code != .full || refused?.holder == nil {
        refused = error { try Self.set(table, round % count, timeout: .zero) }
      }
      #expect(refused?.code == .full)
      #expect(refused?.holder != nil)
      #expect(refused?.message.contains("a reader keeps old versions that would make room") == true)
    }
  }

  /// A reader that goes on standing in the way is named in the end, whatever the write's timeout.
  @Test(arguments: [Duration.milliseconds(20), .seconds(600)])
  func aReaderThatStaysIsNamed(_ timeout: Duration) throws {
    try withTable(.rcu, capacityBytes: 2 << 20, limboBudgetBytes: 1 << 30, policy: .refuse) { table throws in
      var count = 0
      while code({ try table.set(Self.key(count), Self.value) }) == nil { count += 1 }
      let snapshot = try table.snapshot()
      var refused: TableError?
      for index in 0..<count where refused == nil { refused = error { try Self.set(table, index, timeout: timeout) } }
      #expect(refused?.code == .full)
      #expect(refused?.holder?.pid == getpid())
      #expect(try snapshot.get(Self.key(0)) == Self.value)
    }
  }

  /// A barrier that is tried again goes through the same elements again, also if their sequence can be gone through only once.
  @Test func noElementOfASequenceIsLost() throws {
    try withTable(.rcu, capacityBytes: 1 << 20) { table throws in
      let set = try SharedSet<String>("set", in: table)
      let long = String(repeating: "e", count: 10_000)
      var count = 0
      while code({ try table.set(Self.key(count), Self.value) }) == nil { count += 1 }
      for index in 0..<count / 2 { try table.remove(Self.key(index)) }
      var next = 0
      while true {
        let first = next
        let elements = AnyIterator {
          next += 1
          return next - first <= 4 ? "\(next - 1)\(long)" : nil
        }
        if code({ try set.formUnion(elements) }) != nil { break }
        next = first + 4
        #expect(try set.count == next, "of those that were told to be in")
      }
      #expect(next > 8)
    }
  }

  /// The same of what is appended to a value.
  @Test func nothingOfASequenceIsLostThatIsAppended() throws {
    try withTable(.rcu, capacityBytes: 1 << 20) { table throws in
      let shared = try SharedValue("value", in: table, default: [UInt8]())
      var count = 0
      while code({ try table.set(Self.key(count), Self.value) }) == nil { count += 1 }
      for index in 0..<count / 2 { try table.remove(Self.key(index)) }
      var length = 0
      while true {
        let elements = AnyIterator(Self.value.prefix(5000).makeIterator())
        if code({ try shared += elements }) != nil { break }
        length += 5000
        try #require(try shared.value.count == length, "of those that were told to be in")
      }
      #expect(length > 10_000)
    }
  }

  // Not asynchronous, and so the forms that block.
  private static func set(_ table: Table, _ index: Int, timeout: Duration? = nil) throws {
    try table.set(key(index), value, timeout: timeout)
  }

  private static func remove(_ table: Table, _ index: Int) throws { try table.remove(key(index)) }

  private static func merge(_ elements: [String: [UInt8]], _ into: SharedDictionary<String, [UInt8]>) throws {
    try into.merge(elements)
  }
}
