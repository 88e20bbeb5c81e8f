import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// The thread that waits for the tables of a process.
@Suite struct WatcherTests {
  /// Each wait that begins would otherwise have the thread look at all others.
  @Test func aFurtherWaitForATableLetsTheThreadSleep() throws {
    try withTable(.rcu) { table throws in
      let watcher = TableWatcher.shared
      let ids = try (0..<3).map { _ in try watcher.add() }
      defer { for id in ids { watcher.remove(id) } }
      let wakes = ids.map { _ in Counter() }
      let version = table.version
      func wait(_ index: Int, after version: UInt64, deadline: UInt64 = .max) throws -> Bool {
        try watcher.wait(ids[index], table.segment, for: .commit(after: version), deadline: deadline) {
          [wakes] in wakes[index].increment()
        }
      }
      _ = try wait(0, after: version)
      #expect(try eventually { try !wait(1, after: version) })
      // What is over already, and what is over before the sleep is.
      #expect(try wait(2, after: version - 1))
      #expect(eventually { wakes[2].value == 1 })
      #expect(try wait(2, after: version, deadline: 0))
      #expect(eventually { wakes[2].value == 2 })
      #expect(wakes[0].value == 0 && wakes[1].value == 0)
      try table.set("k", 1)
      #expect(eventually { wakes[0].value == 1 && wakes[1].value == 1 })
    }
  }
}
