import Glibc
import SharedMemory
import Synchronization
import TableEngine

/// The thread that waits for commits in the name of all who may not block: one a process, however many sequences,
/// sources and tables there are.
///
/// It sleeps on the `committed` words of all tables that somebody waits for, and on a word of its own by which it is
/// told of changes to its list, in one system call (`FutexEvent.wait(whileAll:)`). It reads no table and calls nobody's
/// code but the few lines that make a task or a queue go on. Started by the first ``Watch``, it ends with the last; while
/// there are only such as do not wait just now, it sleeps without end. In a child made by fork() nothing of the
/// parent's is watched, and the first watch there starts a thread of the child's own.
final class CommitWatcher: Sendable {
  static let shared = CommitWatcher()

  /// How long it sleeps at most while somebody waits for a table: what a committer costs that dies before its wake-up.
  private static let sliceNanoseconds: UInt64 = 500_000_000
  /// The same for tables that are only observed, whose committers do not know of us: at first, and once the table has
  /// been quiet for long.
  private static let observerSlice: ClosedRange<UInt64> = 10_000_000...100_000_000

  /// What one watch waits for.
  private struct Wait {
    let segment: Segment
    let version: UInt64
    /// CLOCK_MONOTONIC; none is the end of time.
    let deadline: UInt64
    let since: UInt64
    let wake: @Sendable () -> Void
  }

  private struct State {
    /// Nil before the first watch.
    var forkGeneration: ForkGeneration?
    var isRunning = false
    var lastID: UInt64 = 0
    /// Every living watch; nil while it does not wait.
    var waits: [UInt64: Wait?] = [:]
  }

  private let state = Mutex(State())
  /// Changed whenever the thread's list is. Never freed, as the thread may be about to look at it.
  private let control: FutexEvent

  private init() {
    let word = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
    unsafe word.initializeMemory(as: UInt64.self, to: 0)
    unsafe control = FutexEvent(at: word)
  }

  private func withState<R>(_ body: (inout State) -> R) -> R {
    ForkLock.hold { state.withLock { body(&$0) } }
  }

  // MARK: - For watches

  fileprivate func add() throws(SystemError) -> UInt64 {
    // Dropped after the lock: the last reference to a segment, whose end takes ForkLock itself.
    var ofParent: [UInt64: Wait?] = [:]
    defer { withExtendedLifetime(ofParent) {} }
    let (id, needsThread) = withState { state in
      let generation = ForkGeneration()
      if state.forkGeneration != generation {
        swap(&ofParent, &state.waits)
        state.isRunning = false
        state.forkGeneration = generation
      }
      let needsThread = !state.isRunning
      state.isRunning = true
      state.lastID += 1
      state.waits.updateValue(nil, forKey: state.lastID)
      return (state.lastID, needsThread)
    }
    if needsThread {
      do throws(SystemError) {
        try unsafe ServiceThread.start { _ in
          ServiceThread.name("table-watcher")
          CommitWatcher.shared.run()
          return nil
        }
      } catch {
        withState { state in
          state.isRunning = false
          state.waits.removeValue(forKey: id)
        }
        throw error
      }
    }
    return id
  }

  fileprivate func remove(_ id: UInt64) {
    let removed = withState { $0.waits.removeValue(forKey: id) }
    if removed != nil { control.advance() }
  }

  fileprivate func wait(
    _ id: UInt64, _ segment: Segment, after version: UInt64, deadline: UInt64, _ wake: @escaping @Sendable () -> Void
  ) {
    let wait = Wait(
      segment: segment, version: version, deadline: deadline, since: HostClock.monotonicNanoseconds, wake: wake)
    // The replaced wait goes out of the lock: it holds a segment.
    let replaced = withState { state -> Wait?? in
      guard state.forkGeneration == ForkGeneration(), state.waits[id] != nil else { return .none }
      return state.waits.updateValue(wait, forKey: id)
    }
    // Of the parent of this process: the woken thread finds that out.
    guard case .some = replaced else { return wake() }
    control.advance()
  }

  fileprivate func end(_ id: UInt64) {
    let wait = withState { state -> Wait? in
      guard let wait = state.waits[id] ?? nil else { return nil }
      state.waits.updateValue(nil, forKey: id)
      return wait
    }
    wait?.wake()
  }

  // MARK: - The thread

  /// - Returns: an error number, or 0.
  private enum Turn {
    case ended
    case wake([@Sendable () -> Void])
    case sleep([(segment: Segment, version: UInt64)], nanoseconds: UInt64)
  }

  private func run() {
    while true {
      // Before the list is looked at, so that no change of it is slept through.
      let seen = control.value
      switch turn() {
      case .ended:
        return
      case .wake(let wakes):
        for wake in wakes { wake() }
      case .sleep(let tables, let nanoseconds):
        // The wake-up is asked for before the last look at `committed`, which the kernel takes as it puts us to sleep.
        for table in tables { table.segment.announceWait(after: table.version) }
        FutexEvent.wait(
          whileAll: [(control, seen)]
            + tables.map { ($0.segment.commitEvent, UInt32(truncatingIfNeeded: $0.version)) },
          timeoutNanoseconds: nanoseconds)
      }
    }
  }

  /// Who is to be woken, or else what to sleep on.
  private func turn() -> Turn {
    let now = HostClock.monotonicNanoseconds
    // Dropped after the lock: a watch that ended meanwhile leaves its last reference to the segment here.
    var tables: [ObjectIdentifier: (segment: Segment, version: UInt64)] = [:]
    defer { withExtendedLifetime(tables) {} }
    return withState { state in
      if state.waits.isEmpty {
        state.isRunning = false
        return .ended
      }
      var wakes: [@Sendable () -> Void] = []
      var nanoseconds = UInt64.max
      for (id, wait) in state.waits {
        guard let wait else { continue }
        let key = ObjectIdentifier(wait.segment)
        // One look a table and turn: what everybody is judged by is what is slept on.
        let newest = tables[key]?.version ?? wait.segment.committed
        tables[key] = (wait.segment, newest)
        if newest > wait.version || now >= wait.deadline || Self.isGone(wait.segment, now) {
          wakes.append(wait.wake)
          state.waits.updateValue(nil, forKey: id)
        } else {
          nanoseconds = min(nanoseconds, Self.slice(wait, now), wait.deadline - now)
        }
      }
      return wakes.isEmpty ? .sleep(Array(tables.values), nanoseconds: nanoseconds) : .wake(wakes)
    }
  }

  private static func isGone(_ segment: Segment, _ now: UInt64) -> Bool {
    do {
      try segment.checkLinked(now: now)
      return false
    } catch {
      return true
    }
  }

  private static func slice(_ wait: Wait, _ now: UInt64) -> UInt64 {
    guard wait.segment.access == .observer else { return sliceNanoseconds }
    let quiet = (now &- wait.since) / 8
    return min(max(quiet, observerSlice.lowerBound), observerSlice.upperBound)
  }
}

/// One who may wait for commits of a table, without blocking. Gone with its last reference.
package final class Watch: Sendable {
  private let segment: Segment
  private let id: UInt64

  /// - Throws: `system` if the watcher's thread cannot be started.
  package init(_ table: Table) throws(TableError) {
    segment = table.segment
    do throws(SystemError) { id = try CommitWatcher.shared.add() } catch { throw table.named(.system(error)) }
  }

  deinit { CommitWatcher.shared.remove(id) }

  /// Calls `wake` once: when a version above this one is committed, the table is gone, the time is over, or ``end()``
  /// is called. On the watcher's thread: it must not take long. Only one wait at a time.
  package func wait(after version: UInt64, deadline: UInt64 = .max, _ wake: @escaping @Sendable () -> Void) {
    CommitWatcher.shared.wait(id, segment, after: version, deadline: deadline, wake)
  }

  /// Ends the wait, if there is one.
  func end() { CommitWatcher.shared.end(id) }

  /// The same wait; no commit comes to a table that is gone.
  /// - Throws: `unlinked`.
  func waitForCommit(
    after version: UInt64, deadline: UInt64, isolation: isolated (any Actor)? = #isolation
  ) async throws(TableError) {
    do throws(EngineError) {
      try segment.checkLinked(now: HostClock.coarseNanoseconds)
    } catch {
      throw TableError(error, table: segment.name)
    }
    await wait(after: version, deadline: deadline, isolation: isolation)
  }

  /// Suspends until a version above this one is committed, the table is gone, the time is over, or the task is
  /// cancelled.
  func wait(
    after version: UInt64, deadline: UInt64 = .max, isolation: isolated (any Actor)? = #isolation
  ) async {
    await withTaskCancellationHandler {
      await unsafe withUnsafeContinuation { continuation in
        wait(after: version, deadline: deadline) { unsafe continuation.resume() }
        // A cancellation that came before the wait found nothing to end.
        if Task.isCancelled { end() }
      }
    } onCancel: {
      end()
    }
  }
}
