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

  /// A full table, and beside it a reader each of whose sections keeps every old version until three attempts of a write have
  /// failed for that.
  private func withReaderInTheWay(
    isolation: isolated (any Actor)? = #isolation, _ body: (Table, _ count: Int) async throws -> Void
  ) async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(
        name, .init(capacityBytes: 2 << 20, limboBudgetBytes: 1 << 30, stalledReaderPolicy: .refuse))
      var count = 0
      while code({ try table.set(Self.key(count), Self.value) }) == nil { count += 1 }
      let isOver = Atomic(false)
      let reader = TestThread { try read(table, until: isOver) }
      do {
        defer { reader.joinQuietly() }
        defer { isOver.store(true, ordering: .relaxed) }
        try await body(table, count)
      }
      #expect(try table.check() == [])
    }
  }

  private func read(_ table: Table, until isOver: borrowing Atomic<Bool>) throws {
    let control = table.segment.controlMemory!
    while !isOver.load(ordering: .relaxed) {
      try table.read { _ in
        var (failures, turn) = (0, UInt64(0))
        while failures < 3, !isOver.load(ordering: .relaxed) {
          let now = control.loadRelaxed(ControlLayout.turns)
          if control.loadRelaxed(ControlLayout.roomWanted) != 0, now != turn { (failures, turn) = (failures + 1, now) }
          sched_yield()
        }
      }
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
    try await withReaderInTheWay { table, count async throws in
      for round in 0..<4 * count { try await expectRoom { try Self.set(table, round % count) } }
      for index in 0..<count / 2 { try await expectRoom { try Self.remove(table, index) } }
      #expect(table.count == count - count / 2)
    }
  }

  @Test func anAwaitedWriteWaitsToo() async throws {
    try await withReaderInTheWay { table, count async throws in
      for index in 0..<count { try await expectRoom { try await table.set(Self.key(index), Self.value) } }
      for index in 0..<count {
        try await expectRoom { try await table.barrier { tx in try tx.set(Self.key(index), Self.value) } }
      }
      for index in 0..<count / 2 { try await expectRoom { try await table.remove(Self.key(index)) } }
      #expect(table.count == count - count / 2)
    }
  }

  @Test func aWriteThatMayNotWaitIsRefusedAtOnce() async throws {
    try await withReaderInTheWay { table, count async throws in
      var refused: TableError?
      for index in 0..<count where refused == nil { refused = error { try Self.set(table, index, timeout: .zero) } }
      #expect(refused?.code == .full)
      #expect(refused?.holder != nil)
      #expect(refused?.message.contains("a reader keeps old versions that would make room") == true)
    }
  }

  // Not asynchronous, and so the forms that block.
  private static func set(_ table: Table, _ index: Int, timeout: Duration? = nil) throws {
    try table.set(key(index), value, timeout: timeout)
  }

  private static func remove(_ table: Table, _ index: Int) throws { try table.remove(key(index)) }
}
