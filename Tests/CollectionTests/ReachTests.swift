import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// Whom a collection's or a value's own changes wait for: who locked its name or a key below it, and nobody else.
@Suite struct ReachTests {
  /// Each does one change of the thing named "x".
  private static let changes: [(what: String, change: @Sendable (Table) throws -> Void)] = [
    ("value", { try SharedValue("x", in: $0, default: 0).set(1) }),
    ("value's mutate", { try SharedValue("x", in: $0, default: 0).mutate { $0 += 1 } }),
    ("counter", { try SharedCounter("x", in: $0).increment() }),
    ("dictionary", { try SharedDictionary<String, Int>("x", in: $0).set("k", 1) }),
    ("dictionary's mutate", { try SharedDictionary<String, Int>("x", in: $0).mutate("k", default: 0) { $0 += 1 } }),
    ("dictionary's merge", { try SharedDictionary<String, Int>("x", in: $0).merge(["k": 1]) }),
    ("dictionary's removal", { try SharedDictionary<String, Int>("x", in: $0).removeValue(forKey: "k") }),
    ("set", { try SharedSet<String>("x", in: $0).insert("k") }),
    ("array", { try SharedArray<Int>("x", in: $0).append(1) }),
    ("cache", { try SharedCache<String, Int>("x", in: $0, limit: .entries(10)).set("k", 1) }),
    ("cache's removal", { try SharedCache<String, Int>("x", in: $0, limit: .entries(10)).removeAll() }),
    ("computed value", { _ = try SharedCache<String, Int>("x", in: $0, limit: .entries(10)).value(forKey: "k") { 1 } }),
    ("guarded value", { try Guarded("x", in: $0, default: 0).accessor { $0 += 1 }.accessSync() }),
    ("once", { _ = try SharedOnce<Int>("x", in: $0).value { 1 } }),
  ]

  @Test(arguments: changes.indices, Table.Variant.allCases) func nobodyWaitsForTheKeysOfOthers(
    _ index: Int, _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let holder = try worker(table)
      try holder.ask("keyed xy,y/x", expecting: "in")
      // Not the worker's patience, which ends with the test.
      let patient = try Table.open(table.name, access: .participant, timeout: .seconds(20))
      #expect(throws: Never.self, "\(Self.changes[index].what)") { try Self.changes[index].change(patient) }
      try holder.ask("commit", expecting: "ok")
      try holder.finish()
    }
  }

  @Test(arguments: changes.indices) func whoHasLockedTheNameIsWaitedFor(_ index: Int) throws {
    try withTable(.rcu) { table throws in
      let hasty = try Table.open(table.name, access: .participant, timeout: .milliseconds(20))
      let holder = try worker(table)
      try holder.ask("keyed x", expecting: "in")
      let refusal = error { try Self.changes[index].change(hasty) }
      #expect(refusal?.code == .timedOut, "\(Self.changes[index].what)")
      #expect(refusal?.holder?.pid == holder.pid)
      try holder.ask("commit", expecting: "ok")
      try Self.changes[index].change(table)
      try holder.finish()
    }
  }

  /// A barrier of keys keeps its changes in memory: the collections are whole there, and the table is full at the commit.
  @Test(arguments: Table.Variant.allCases) func whatIsTooMuchForTheTableIsNoDamage(_ variant: Table.Variant) throws {
    let table = try Table.temporary(variant: variant, capacityBytes: 1 << 20)
    let array = try SharedArray<[UInt8]>("a", in: table)
    let set = try SharedSet<String>("s", in: table)
    // A page lists a few of them, more or fewer by the seed of its hash: far less than the longest value.
    let name = String(repeating: "x", count: 15_000)
    let refusal = code {
      try table.barrier(keys: ["a", "s"]) { tx throws in
        for index in 0..<60 {
          try array.append([UInt8](repeating: UInt8(index), count: 30_000), in: &tx)
          try set.insert("\(name)\(index)", in: &tx)
        }
        let last = try array.firstIndex(in: tx) { $0[0] == 59 }
        let all = try (array.get(at: 59, in: tx)[0], set.count(in: tx))
        #expect(last == 59 && all == (59, 60))
        // What is undone counts no more.
        try? tx.withSavepoint { (tx: inout Transaction) throws in
          try array.removeAll(in: &tx)
          try set.removeAll(in: &tx)
          throw Stop()
        }
        #expect(try set.contains("\(name)7", in: tx))
      }
    }
    #expect(refusal == .full)
    let left = try (array.count, set.count)
    #expect(left == (0, 0))
  }

  @Test func whoHasLockedAnElementIsWaitedFor() throws {
    try withTable(.rcu) { table throws in
      let hasty = try Table.open(table.name, access: .participant, timeout: .milliseconds(20))
      let holder = try worker(table)
      try holder.ask("keyed x/other", expecting: "in")
      #expect(code { try SharedDictionary<String, Int>("x", in: hasty).set("k", 1) } == .timedOut)
      try holder.ask("commit", expecting: "ok")
      try holder.finish()
    }
  }
}
