import SharedMemory
import TableEngine

/// By this a task, a queue or an event loop waits for commits of a table, or for its store, and blocks no thread. The wait ends with the last
/// reference.
package final class Watch: Sendable {
  /// What is waited for.
  package enum Goal: Sendable {
    /// A version above this one is committed.
    case commit(after: UInt64)
    /// All versions up to this one are on the disk, or it is known that they will not be.
    case disk(UInt64)
  }

  private let segment: Segment
  private let id: UInt64

  /// - Throws: `system` if the watcher's thread cannot be started.
  package init(_ table: Table) throws(TableError) {
    segment = table.segment
    do throws(SystemError) { id = try TableWatcher.shared.add() } catch { throw table.named(.system(error)) }
  }

  deinit { TableWatcher.shared.remove(id) }

  /// Gives an iterator that is about to wait a watch of its own: it has none yet, or shares one with a copy of itself, and one task at
  /// a time can wait by a watch.
  static func ensureOwn(_ watch: inout Watch?, of table: Table) throws(TableError) {
    if !isKnownUniquelyReferenced(&watch) { watch = try Watch(table) }
  }

  /// Calls `wake` once: when what is waited for has come, the table is gone, the time is over, or ``end()`` is called. On the
  /// watcher's thread: it must not take long. Only one wait at a time.
  /// - Throws: `system` if the watcher's thread cannot be started; `wake` is not called then.
  package func wait(
    for goal: Goal, deadline: UInt64 = .max, _ wake: @escaping @Sendable () -> Void
  ) throws(TableError) {
    do throws(SystemError) {
      try TableWatcher.shared.wait(id, segment, for: goal, deadline: deadline, wake)
    } catch {
      throw TableError(.system(error), table: segment.name)
    }
  }

  /// Ends the wait, if there is one.
  package func end() { TableWatcher.shared.end(id) }

  /// As ``wait(for:deadline:isolation:)``, for a commit above `version`; no commit comes to a table that is gone. Suspends also where the wait is
  /// over at once: beside a writer that never pauses the caller would otherwise keep its actor, or a thread of the pool, for as long as it looks
  /// again.
  /// - Throws: `unlinked`, unless there is a commit that the caller has not seen; `system`.
  func waitForCommit(
    after version: UInt64, deadline: UInt64, isolation: isolated (any Actor)? = #isolation
  ) async throws(TableError) {
    if segment.committed > version { return await Task.yield() }
    do throws(EngineError) {
      try segment.checkLinked(now: HostClock.coarseNanoseconds)
    } catch {
      throw TableError(error, table: segment.name)
    }
    try await wait(for: .commit(after: version), deadline: deadline, isolation: isolation)
  }

  /// Suspends until what is waited for has come, the table is gone, the time is over, or the task is cancelled.
  /// - Throws: `system` if the watcher's thread cannot be started.
  func wait(
    for goal: Goal, deadline: UInt64 = .max, isolation: isolated (any Actor)? = #isolation
  ) async throws(TableError) {
    let failure: TableError? = await withTaskCancellationHandler {
      await unsafe withUnsafeContinuation { continuation in
        do throws(TableError) {
          try wait(for: goal, deadline: deadline) { unsafe continuation.resume(returning: nil) }
        } catch {
          return unsafe continuation.resume(returning: error)
        }
        // A cancellation that came before the wait found nothing to end.
        if Task.isCancelled { end() }
      }
    } onCancel: {
      end()
    }
    if let failure { throw failure }
  }
}
