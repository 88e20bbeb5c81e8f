import Synchronization
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// Writes in the queue of their cache, awaited or not.
@Suite struct CacheOrderTests {
  /// A value that does something while it is stored: one that is made of others may look for them.
  private struct Compound: TableValue {
    let whenStored: @Sendable () -> Void
    static var tableType: ValueType { .bytes }
    func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
      whenStored()
      return try unsafe [UInt8]("whole".utf8).withTableBytes(body)
    }
    init(whenStored: @escaping @Sendable () -> Void) { self.whenStored = whenStored }
    init?(tableBytes: UnsafeRawBufferPointer) { self.init {} }
  }

  /// It finds what was stored before, and is told at once where it would wait for itself.
  @Test(arguments: Table.Variant.allCases) func aValuesCodingMayUseItsCacheButNotWaitForIt(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let cache = try SharedCache<String, Compound>("cache", in: table, limit: .entries(10))
      try cache.set("part", Compound {})
      let code = Mutex<TableError.Code?>(nil)
      let whole = Compound {
        let errors = [error { _ = try cache.contains("part") }, error { try cache.set("other", Compound {}) }]
        #expect(errors.allSatisfy { $0 == nil }, "\(errors)")
        code.withLock { $0 = error { try cache.flush() }?.code }
      }
      try cache.set("whole", whole, waitUntilDone: false)
      try cache.flush()
      #expect(code.withLock { $0 } == .wouldDeadlock)
      #expect(try cache.contains("whole") && cache.contains("other"))
    }
  }

  /// A task that is cancelled waits no longer for writes before its own, which then does nothing.
  @Test func aCancelledTaskDoesNotWaitForTheWritesBefore() async throws {
    try await withTable(.rcu) { table async throws in
      let cache = try SharedCache<String, Int>("cache", in: table, limit: .entries(10))
      let writer = try cacheWorker(table)
      try writer.ask("barrier", expecting: "in")
      try cache.set("slow", 1, waitUntilDone: false)
      let tasks: [Task<Void, any Error>] = [
        Task { try await cache.set("late", 2, timeout: .seconds(600)) },
        Task { _ = try await cache.value(forKey: "late", timeout: .seconds(600)) { 3 } },
        Task { try await cache.flush() },
      ]
      #expect(await comesTrue { cache.core.queue.waitingCount == tasks.count })
      for task in tasks {
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      // Only now: none of them waited for this.
      try writer.ask("commit", expecting: "ok")
      try writer.finish()
      try await cache.flush()
      #expect(try cache.contains("slow") && !cache.contains("late"))
    }
  }
}
