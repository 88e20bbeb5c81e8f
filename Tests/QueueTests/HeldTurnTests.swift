import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// Awaited work of all kinds for a table that is held, and work for another one. One after the other: two such tables may take all lanes.
@Suite(.serialized) struct HeldTurnTests {
  private static let long = Duration.seconds(600)

  /// Work that takes a turn of its own for each call, and in it waits for the table.
  enum Kind: CaseIterable {
    case set, dictionarySet, cacheValue, onceValue

    func run(_ table: Table, _ number: Int) async throws {
      switch self {
      case .set: try await table.set("key \(number)", number, timeout: HeldTurnTests.long)
      case .dictionarySet:
        let dictionary = try SharedDictionary<String, Int>("dictionary \(number)", in: table)
        try await dictionary.set("key", number, timeout: HeldTurnTests.long)
      case .cacheValue:
        let cache = try SharedCache<String, Int>("cache \(number)", in: table, limit: .entries(10))
        _ = try await cache.value(forKey: "key", timeout: HeldTurnTests.long) { number }
      case .onceValue:
        let once = try SharedOnce<Int>("once \(number)", in: table)
        _ = try await once.value(timeout: HeldTurnTests.long) { number }
      }
    }
  }

  @Test(arguments: Kind.allCases) func workForAHeldTableLeavesLanesToOthers(_ kind: Kind) async throws {
    let pool = WorkerPool.shared
    try await withTable(.rcu) { table throws in
      let holder = try Holder(table)
      defer { holder.leave() }
      try await withThrowingTaskGroup(of: Void.self) { group in
        let many = pool.most + 2 * pool.limit
        for number in 0..<many { group.addTask { try await kind.run(table, number) } }
        // Tasks have their turn among those of all tests: a minute may not be enough.
        #expect(await comesTrue(within: Self.long) { pool.waiting(for: table.segment) >= pool.mostOfTable })
        let other = try Table.temporary(variant: .rcu, capacityBytes: 4 << 20)
        let queue = try BarrierQueue(in: other, label: "org.example.other")
        let change = try queue.async(flags: .barrier) { tx in try tx.increment("n") }
        let read = try queue.async { view in try view.get("n", as: Int.self) }
        // Nor does it keep a read of its own waiting.
        let own = try BarrierQueue(in: table, label: "org.example.own")
        let ownRead = try own.async { view in try view.get("absent", as: Int.self) }
        // Behind barriers of keys whose turns are held: as many as a queue asks turns for, and more.
        let mixed = try BarrierQueue(in: table, label: "org.example.mixed")
        let keyed = try (0..<2 * pool.width).map { index in
          try mixed.async(keys: ["mixed \(index)"], timeout: Self.long) { tx in try tx.set("mixed \(index)", 1) }
        }
        let mixedReads = try (0..<2 * pool.width).map { _ in try mixed.async { view in try view.count() } }
        // While the table is held.
        #expect(await comesTrue { change.isFinished && read.isFinished && ownRead.isFinished })
        #expect(await comesTrue { mixedReads.allSatisfy(\.isFinished) })
        #expect(keyed.allSatisfy { !$0.isFinished })
        // Lanes that were at work when it came to that many may have begun to wait, too.
        #expect(pool.waiting(for: table.segment) <= pool.mostOfTable + pool.limit)
        holder.leave()
        try await group.waitForAll()
        for item in keyed { try await item.value }
        #expect(try await read.value == 1)
      }
      try holder.join()
    }
  }

  /// On a machine with many processors, too.
  @Test func halfOfDispatchsThreadsAreLeftToOthers() {
    let pool = WorkerPool.shared
    #expect(pool.most <= 128)
    #expect(pool.limit <= pool.mostOfTable && 2 * pool.mostOfTable <= pool.most)
  }

  /// What is ready together may run in any order.
  @Test func aReadHasTheTurnsOfATableForWhichManyWait() throws {
    let queue = try BarrierQueue(in: Table.temporary(), label: "org.example.reads")
    var order = SubmissionOrder(queue.gate, limit: 8)
    let keyed = (0..<3).map { _ in Job(queue, .read) { _ in {} } }
    let read = ReadWork(queue, nil)
    for work in keyed { order.submit(work) }
    #expect(order.turnsToRequest(width: 2, mostWaiting: 2) == 2)
    #expect(order.mayNextTurnWait)
    for _ in 0..<2 { order.noteHeldTurn() }
    #expect(order.turnsToRequest(width: 2, mostWaiting: 2) == 0, "what is held is no reason for more of its kind")
    order.submit(read)
    #expect(order.turnsToRequest(width: 2, mostWaiting: 2) == 1)
    #expect(!order.mayNextTurnWait)
    #expect(order.beginTurn(isReadFirst: true) === read)
    #expect(order.mayNextTurnWait)
    order.endTurn()
    order.finishRead()
    // Without many that wait, each in its order.
    for (index, work) in keyed.enumerated() {
      _ = order.turnsToRequest(width: 2, mostWaiting: 2)
      #expect(order.beginTurn(wasHeld: index < 2) === work)
      order.endTurn()
      order.finishRead()
    }
  }

  /// They wait as barriers do, so further turns would be held, too, and asked for again without end.
  @Test func readsOfTheRWLockVariantHaveNoFurtherTurnsWhereOneIsHeld() throws {
    let queue = try BarrierQueue(in: Table.temporary(variant: .rwlock), label: "org.example.locked")
    var order = SubmissionOrder(queue.gate, limit: 8)
    order.submit(ReadWork(queue, nil))
    #expect(order.turnsToRequest(width: 2, mostWaiting: 2) == 1)
    #expect(order.mayNextTurnWait)
    order.noteHeldTurn()
    #expect(order.turnsToRequest(width: 2, mostWaiting: 2) == 0)
  }

  /// It would not wait long in it: too many wait already, so it steps back again. And held, it would outlast its timeout.
  @Test func theTurnOfABarrierThatSteppedBackIsNotHeld() throws {
    let queue = try BarrierQueue(in: Table.temporary(), label: "org.example.patient")
    var order = SubmissionOrder(queue.gate, limit: 4)
    let work = BarrierWork(queue, .seconds(1))
    order.submit(work)
    #expect(order.mayNextTurnWait)
    work.turnDeadline = Deadline(.seconds(1))
    #expect(!order.mayNextTurnWait)
  }
}
