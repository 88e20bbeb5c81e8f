import Dispatch
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// What a process has read it notes for itself, and tells the table by a job that nobody waits for.
@Suite struct HitNoteTests {
  @Test func whatAReaderKeepsUsingStays() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(400))
      // Each handle has notes of its own, as if it were a process.
      let reader = try StringCache("c", in: table, limit: .entries(400))
      for index in 0..<100 { try cache.set("hot\(index)", "hot") }
      // Five times what the cache holds; the reader uses its keys every 100 insertions, and never writes any.
      for index in 0..<2000 {
        try cache.set("cold\(index)", "cold")
        guard index % 100 == 99 else { continue }
        for index in 0..<100 { _ = try reader["hot\(index)"] }
        #expect(eventually { reader.core.queue.isIdle }, "its notes are told")
      }
      let left = try (0..<100).filter { try cache.contains("hot\($0)") }.count
      // A page lets its oldest element go, which may be a hot one: of 150 such tables 76 to 98 were left, 89 in the mean.
      #expect(left >= 60, "unheard, none of them would be left")
    }
  }

  @Test func whoWaitsForWritesDoesNotWaitForNotes() throws {
    try withTable(.rcu) { table throws in
      let cache = try SharedCache<Int, Int>("c", in: table, limit: .entries(100))
      let door = DispatchSemaphore(value: 0)
      // In the place of that job.
      defer { door.signal() }
      try cache.core.queue.submitJob { door.wait() }
      try cache.flush(timeout: .zero)
      try table.read { _ in try cache.flush() }
    }
  }

  /// Nor does a process that ends: it waits for jobs as long as for writes.
  @Test func notesDoNotWaitLongForTheTable() throws {
    try withTable(.rcu) { table throws in
      let cache = try SharedCache<Int, Int>("c", in: table, limit: .entries(100))
      for index in 0..<100 { try cache.set(index, index) }
      let other = try worker(table)
      try other.ask("barrier", expecting: "in")
      #expect(try (0..<100).allSatisfy { try cache[$0] == $0 })
      let isSubmitted = cache.core.queue.isFlushedAtExit.load(ordering: .relaxed)
      #expect(isSubmitted, "a job was submitted, the first of its queue")
      #expect(eventually { cache.core.queue.isIdle }, "it waits for the table")
      try other.ask("commit", expecting: "ok")
    }
  }
}
