import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// A closure is run again if its own table had no room for it, and not if another table, which it uses, had none: a next barrier finds no
/// more room there.
@Suite struct OtherTableFullTests {
  private static let failure = TableError(.full, table: "another", "for the test")

  @Test func anAwaitedBarrierRunsOnce() async throws {
    try await withTable(.rcu) { table async throws in
      let runs = Counter()
      let thrown = await error {
        try await table.barrier { tx in
          runs.increment()
          throw Self.failure
        }
      }
      #expect(thrown?.table == "another")
      #expect(runs.value == 1)
    }
  }

  @Test func aBarrierInAGroupRunsOnce() throws {
    try withQueue(.rcu) { queue throws in
      let runs = Counter()
      let holder = try Holder(queue.table)
      let first = try queue.async(flags: .barrier) { tx in try tx.set("k", 1) }
      let second = try queue.async(flags: .barrier) { tx in
        runs.increment()
        try tx.set("k", 2)
        throw Self.failure
      }
      holder.leave()
      try holder.join()
      try first.wait(timeout: .seconds(600))
      #expect(error { try second.wait(timeout: .seconds(600)) }?.table == "another")
      #expect(runs.value == 1)
      #expect(try queue.table.get("k") == 1)
    }
  }
}
