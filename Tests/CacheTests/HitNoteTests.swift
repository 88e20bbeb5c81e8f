import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// What a process has read it notes for itself, and tells the table by a job that nobody waits for.
@Suite struct HitNoteTests {
  @Test func whoWaitsForWritesDoesNotWaitForNotes() throws {
    try withTable(.rcu) { table throws in
      let cache = try SharedCache<Int, Int>("c", in: table, limit: .entries(100))
      for index in 0..<100 { try cache.set(index, index) }
      let other = try worker(table)
      try other.ask("barrier", expecting: "in")
      #expect(try (0..<100).allSatisfy { try cache[$0] == $0 })
      #expect(eventually { cache.core.queue.turnsWaiting > 0 }, "no note waits for the table")
      try cache.flush(timeout: .zero)
      try table.read { _ in try cache.flush() }
      try other.ask("commit", expecting: "ok")
    }
  }
}
