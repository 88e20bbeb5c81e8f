import Glibc
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A value of which there is one on the host.
@Suite struct OnceTests {
  struct Refused: Error {}

  @Test(arguments: Table.Variant.allCases) func theFirstMakesItForAll(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let once = try SharedOnce<String>("o", in: table)
      #expect(try once.current == nil)
      #expect(throws: Refused.self) { try once.value { throw Refused() } }
      #expect(try once.value { "first" } == "first")
      #expect(try once.value { "second" } == "first")
      #expect(try SharedOnce<String>("o", in: table).current == "first")
      #expect(try table.get("o", as: String.self) == "first")
      #expect(try cacheWorker(table).ask("once o theirs") == "first")
      #expect(error { _ = try SharedOnce<Int>("o", in: table).value { 1 } }?.code == .typeMismatch)
      #expect(table.count == 1, "no claim is left")
    }
  }

  @Test(arguments: Table.Variant.allCases) func threadsMakeItOnce(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let once = try SharedOnce<Int>("o", in: table)
      let runs = Counter()
      let wrong = Counter()
      let arrived = Counter()
      onThreads(50) { _ in
        arrived.increment()
        let value = try? once.value(timeout: .seconds(600)) {
          runs.increment()
          while arrived.value < 50 { sched_yield() }
          return 42
        }
        if value != 42 { wrong.increment() }
      }
      #expect(runs.value == 1)
      #expect(wrong.value == 0)
    }
  }

  /// G11: nothing that a table's end waits for is held while another table is looked up. A process's presence, which
  /// ``SharedOnce`` asks for before it computes, is given back at that end.
  @Test func threadsOpenTablesAndLetThemGo() throws {
    let failures = Counter()
    try withTableName { (name: String) throws -> Void in
      let names = (0..<4).map { "\(name).\($0)" }
      defer { for name in names { try? Table.drop(name) } }
      for name in names { _ = try Table.create(name, .init(capacityBytes: 4 << 20)) }
      onThreads(names.count) { thread in
        for round in 0..<2000 {
          do {
            let table = try Table.open(names[thread], timeout: .seconds(600))
            _ = try SharedOnce<Int>("o", in: table).value(timeout: .seconds(600)) { round }
            _ = try table.remove("o")
          } catch {
            failures.increment()
          }
        }
      }
    }
    #expect(failures.value == 0)
  }

  @Test(arguments: Table.Variant.allCases) func whoMakesItMayDie(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let first = try cacheWorker(table)
      try first.ask("once o first", expecting: "computing")
      let second = try cacheWorker(table)
      try second.send("once o second")
      try second.waitUntilAsleep(in: .futex)
      let failure = error { _ = try SharedOnce<String>("o", in: table).value(timeout: .milliseconds(30)) { "mine" } }
      #expect(failure?.holder?.pid == first.pid)
      try first.killAndWait()
      try second.expectLine("computing")
      try second.killAndWait()
      #expect(try SharedOnce<String>("o", in: table).value(timeout: .seconds(600)) { "third" } == "third")
    }
  }

  /// The claim of a caller that cannot release it for the damage stops nobody once the table is repaired.
  @Test(arguments: Table.Variant.allCases) func aClaimEndsAfterTheTablesRepair(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let once = try SharedOnce<Int>("o", in: table)
      let mark = DamageMark(ctl: try #require(table.segment.participant).state.ctl)
      #expect(throws: Refused.self) {
        try once.value {
          mark.set()
          throw Refused()
        }
      }
      #expect(code { try once.value { 0 } } == .damaged)
      mark.clear()
      #expect(try once.value(timeout: .seconds(30)) { 1 } == 1)
    }
  }

  @Test func tasksMakeItOnce() async throws {
    try await withTable(.rcu) { table async throws in
      let once = try SharedOnce<Int>("o", in: table)
      let runs = Counter()
      let values = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<100 {
          group.addTask {
            try await once.value(timeout: .seconds(600)) {
              runs.increment()
              await Task.yield()
              return 42
            }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(values == Array(repeating: 42, count: 100))
      #expect(runs.value == 1)
    }
  }
}
