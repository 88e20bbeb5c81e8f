import SharedTable
import TestSupport
import Testing

/// G4 within a queue: the order is that of a concurrent DispatchQueue, judged by one model for both.
@Suite struct OrderTests {
  typealias Item = OrderHistory.Item

  // MARK: - The model itself

  static let right: [(String, [Item])] = [
    ("nothing", []),
    ("reads side by side", [.read(1, 2, 3, 6, seen: 0), .read(4, 5, 5, 7, seen: 0)].spread),
    ("reads begun in another order", [.read(1, 2, 7, 8, seen: 0), .read(3, 4, 5, 6, seen: 0)].spread),
    (
      "read, barrier, read",
      [
        .read(1, 2, 3, 4, seen: 0), .barrier(5, 6, 7, 8, seen: 0), .read(9, 10, 11, 12, seen: 1),
      ]
    ),
    (
      "a sync read sees the async barrier before it",
      [
        .barrier(1, 2, 4, 5, seen: 0), .read(sync: true, 3, 8, 6, 7, seen: 1),
      ]
    ),
    ("two threads' barriers in the one order", [.barrier(1, 3, 5, 6, seen: 0), .barrier(2, 4, 7, 8, seen: 1)]),
    ("two threads' barriers in the other order", [.barrier(1, 3, 7, 8, seen: 1), .barrier(2, 4, 5, 6, seen: 0)]),
    (
      "a read of another thread anywhere",
      [
        .barrier(1, 5, 6, 7, seen: 0), .read(2, 4, 8, 9, seen: 1), .read(sync: true, 3, 14, 11, 12, seen: 1),
      ]
    ),
  ]

  static let wrong: [(String, [Item])] = [
    ("a read runs during a barrier", [.barrier(1, 2, 3, 6, seen: 0), .read(4, 5, 5, 8, seen: 0)].spread),
    ("two barriers overlap", [.barrier(1, 2, 5, 8, seen: 0), .barrier(3, 4, 7, 9, seen: 1)]),
    ("a barrier does not wait for a read before it", [.read(1, 2, 7, 8, seen: 1), .barrier(3, 4, 5, 6, seen: 0)]),
    ("a read does not wait for a barrier before it", [.barrier(1, 2, 7, 8, seen: 0), .read(3, 4, 5, 6, seen: 0)]),
    ("barriers in the wrong order", [.barrier(1, 2, 7, 8, seen: 1), .barrier(3, 4, 5, 6, seen: 0)]),
    ("a read does not see the barrier before it", [.barrier(1, 2, 3, 4, seen: 0), .read(5, 6, 7, 8, seen: 0)]),
    ("a read sees a barrier that has not run", [.read(1, 2, 3, 4, seen: 1), .barrier(5, 6, 7, 8, seen: 0)]),
    ("a barrier sees too little", [.barrier(1, 2, 3, 4, seen: 0), .barrier(5, 6, 7, 8, seen: 0)]),
    ("a sync returns before its end", [.read(sync: true, 1, 3, 2, 4, seen: 0)]),
    ("a sync barrier returns before it begins", [.barrier(sync: true, 1, 2, 3, 4, seen: 0)]),
    ("it never ended", [.read(1, 2, 3, 0, seen: 0)]),
    ("it began before it was submitted", [.read(3, 4, 1, 2, seen: 0)]),
    (
      "a sync ran elsewhere",
      [
        Item(isBarrier: false, isSync: true, called: 1, returned: 4, begin: 2, end: 3, seen: 0, ranOnCaller: false)
      ]
    ),
    // No two of them are in the wrong order by themselves, for nobody knows when the barrier was submitted.
    (
      "reads on the wrong sides of a third one's barrier",
      [
        .read(1, 2, 9, 10, seen: 1), .barrier(3, 12, 7, 8, seen: 0), .read(4, 5, 5, 6, seen: 0),
      ].spread
    ),
  ]

  @Test(arguments: right.indices) func theModelAdmitsWhatIsRight(_ index: Int) {
    #expect(OrderHistory(items: Self.right[index].1).violations == [], "\(Self.right[index].0)")
  }

  @Test(arguments: wrong.indices) func theModelRejectsWhatIsWrong(_ index: Int) {
    #expect(OrderHistory(items: Self.wrong[index].1).violations != [], "\(Self.wrong[index].0)")
  }

  @Test(arguments: WrongQueue.Mistake.allCases) func theModelRejectsQueuesWithAMistake(
    _ mistake: WrongQueue.Mistake
  ) throws {
    var rejected = 0
    for seed in 1...200 as ClosedRange<UInt64> where rejected == 0 {
      let program = OrderProgram(seed: seed, threads: 2, steps: 40, barriersInTen: 3)
      if try !program.run(on: WrongQueue(mistake)).violations.isEmpty { rejected += 1 }
    }
    #expect(rejected > 0, "200 programs passed on a queue with the mistake '\(mistake)'")
  }

  // MARK: - The queues

  static let programs: [OrderProgram] = {
    var seed = environment("ORDER_SEED").map(UInt64.init) ?? UInt64.random(in: 1...1_000_000)
    return (0..<(environment("ORDER_PROGRAMS") ?? 60)).map { index in
      defer { seed += 1 }
      return OrderProgram(
        seed: seed, threads: index % 3 == 0 ? 1 : index % 4 + 2, steps: index % 3 == 0 ? 60 : 25,
        barriersInTen: [1, 3, 5, 8][index % 4])
    }
  }()

  @Test func dispatchKeepsTheOrder() throws {
    for program in Self.programs {
      #expect(try program.run(on: DispatchUnderTest()).violations == [], "ORDER_SEED=\(program.seed)")
    }
  }

  @Test(arguments: Table.Variant.allCases) func barrierQueuesKeepTheOrder(_ variant: Table.Variant) throws {
    for program in Self.programs {
      try withQueue(variant) { queue throws in
        let violations = try program.run(on: BarrierQueueUnderTest(queue)).violations
        #expect(violations == [], "\(variant), ORDER_SEED=\(program.seed)")
      }
    }
  }
}

extension [OrderHistory.Item] {
  /// Ticks are unique: what was written down with equal ones is drawn apart.
  fileprivate var spread: Self {
    map { item in
      var item = item
      item.called *= 4
      item.returned = item.returned * 4 + 1
      item.begin = item.begin * 4 + 2
      item.end = item.end * 4 + 3
      return item
    }
  }
}
