import Glibc
import SharedMemory
import Synchronization
import TableEngine

/// The thread that waits for commits, and for tables' stores, so that tasks and queues need not block theirs: one a process, however many
/// sequences, sources and tables there are.
///
/// It sleeps on the `committed` and `durable` words of all tables for which there is a ``Watch`` that waits, and on a word of its own, which
/// watches change when they end, or begin to wait for what its sleep may not end by, in one system call (`FutexEvent.wait(whileAll:)`). It reads no table and calls nobody's
/// code but the few lines that make a task or a queue go on. Started by the first ``Watch``, it ends with the last; while
/// there are only such as do not wait just now, it sleeps without end. In a child made by fork() nothing of the
/// parent's is watched, and the first watch there starts a thread of the child's own.
final class TableWatcher: Sendable {
  static let shared = TableWatcher()

  /// How long it sleeps at most while somebody waits for a table: what a committer costs that dies before its wake-up.
  static let sliceNanoseconds: UInt64 = 500_000_000
  /// How long the watcher sleeps at most while a caller waits for a table that this process only observes: at first, and once the table has been
  /// quiet for long. Writers of such a table cannot see its observers, and wake none of them.
  private static let observerSlice: ClosedRange<UInt64> = 10_000_000...100_000_000

  /// What one watch waits for.
  private struct Wait {
    let segment: Segment
    let goal: Watch.Goal
    /// CLOCK_MONOTONIC; none is the end of time.
    let deadline: UInt64
    let since: UInt64
    let wake: @Sendable () -> Void
  }

  /// What the thread sleeps on, and until when.
  private struct Sleep {
    let tables: [ObjectIdentifier: SeenWords]
    /// CLOCK_MONOTONIC.
    let end: UInt64

    /// Whether the sleep ends in time for this wait. If the thread had to look at its list again for each wait that begins, N tasks that a
    /// commit has woken would have it look at N waits some N times.
    func covers(_ wait: Wait) -> Bool {
      guard case .commit(let version) = wait.goal, let words = tables[ObjectIdentifier(wait.segment)],
        words.showNext(after: version), !TableWatcher.isGone(wait.segment, wait.since)
      else { return false }
      return min(wait.deadline, wait.since &+ TableWatcher.slice(wait, wait.since)) >= end
    }
  }

  private struct State {
    var isRunning = false
    /// The thread's last one. Whether it still sleeps or has woken: it looks at its list again once that has ended.
    var sleep: Sleep?
    /// A child goes on from the parent's: none of its watches has the number of one that it has inherited.
    var lastID: UInt64 = 0
    /// Every living watch; nil while it does not wait.
    var waits: [UInt64: Wait?] = [:]
  }

  private let state = ForkSafeState(State()) { State(lastID: $0.lastID) }
  /// Changed when the thread is to look at its list before its sleep ends. Never freed, as the thread may be about to look at it.
  private let control: FutexEvent

  private init() {
    let word = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
    unsafe word.initializeMemory(as: UInt64.self, to: 0)
    unsafe control = FutexEvent(at: word)
  }

  // MARK: - For watches

  func add() throws(SystemError) -> UInt64 {
    let (id, needsThread) = state.withLock { state in
      let needsThread = !state.isRunning
      state.isRunning = true
      state.lastID += 1
      state.waits.updateValue(nil, forKey: state.lastID)
      return (state.lastID, needsThread)
    }
    if needsThread, let error = start() {
      _ = endWaits(but: id)
      remove(id)
      throw error
    }
    return id
  }

  func remove(_ id: UInt64) {
    let removed = state.withLock { $0.waits.removeValue(forKey: id) }
    if removed != nil { control.advance() }
  }

  /// - Returns: whether the thread was told; false where its sleep ends in time for a commit.
  @discardableResult
  func wait(
    _ id: UInt64, _ segment: Segment, for goal: Watch.Goal, deadline: UInt64, _ wake: @escaping @Sendable () -> Void
  ) throws(SystemError) -> Bool {
    let wait = Wait(
      segment: segment, goal: goal, deadline: deadline, since: HostClock.monotonicNanoseconds, wake: wake)
    // The replaced wait goes out of the lock: it holds a segment.
    let (replaced, needsThread, isCovered) = state.withLock { state -> (Wait??, Bool, Bool) in
      guard state.waits[id] != nil else { return (.none, false, false) }
      let needsThread = !state.isRunning
      state.isRunning = true
      let isCovered = state.sleep?.covers(wait) ?? false
      return (state.waits.updateValue(wait, forKey: id), needsThread, isCovered)
    }
    // Of the parent of this process: the woken thread finds that out.
    guard case .some = replaced else {
      wake()
      return false
    }
    if !isCovered { control.advance() }
    // The task that came first could not start the thread, so this one tries. A wait that has ended meanwhile has been woken, and
    // must not fail besides.
    if needsThread, let error = start(), endWaits(but: id) { throw error }
    return !isCovered
  }

  func end(_ id: UInt64) {
    let wait = state.withLock { state -> Wait? in
      guard let wait = state.waits[id] ?? nil else { return nil }
      state.waits.updateValue(nil, forKey: id)
      return wait
    }
    wait?.wake()
  }

  // MARK: - The thread

  /// What the thread does next.
  private enum Step {
    /// Nobody watches any more: the thread ends.
    case end
    case wake([@Sendable () -> Void])
    case sleep(Sleep, nanoseconds: UInt64)
  }

  /// Starts the thread. Called by whoever found that it does not run, and has noted that it does.
  /// - Returns: why the system gives no thread. The caller then calls ``endWaits(but:)``.
  private func start() -> SystemError? {
    warmUp()
    do throws(SystemError) {
      try unsafe ServiceThread.start { _ in
        ServiceThread.name("table-watcher")
        TableWatcher.shared.run()
        return nil
      }
      return nil
    } catch {
      return error
    }
  }

  /// Notes that no thread runs, and ends all waits that other tasks have begun meanwhile: each of these tasks looks at its table and
  /// waits anew. By that it tries to start the thread itself, and fails with an error where that is not possible.
  /// - Parameter own: the caller's watch, which is not woken.
  /// - Returns: whether `own` was waiting still; if not, it has been woken.
  private func endWaits(but own: UInt64) -> Bool {
    // They go out of the lock: each holds a segment. So does the sleep that the thread was to begin.
    let (waits, sleep) = state.withLock { state in
      state.isRunning = false
      let waits = state.waits
      for id in waits.keys { state.waits.updateValue(nil, forKey: id) }
      return (waits, state.sleep.take())
    }
    defer { withExtendedLifetime(sleep) {} }
    for (id, wait) in waits where id != own { wait?.wake() }
    return (waits[own] ?? nil) != nil
  }

  /// Once through what the thread does, by who starts it.
  ///
  /// Swift's runtime makes types of generic code when they are first used, under locks of its own. If the thread made them, a fork in
  /// that moment would leave such a lock taken in the child for ever.
  private func warmUp() {
    // Others may have begun to wait by now, and what they wait for may be there.
    if case .wake(let wakes) = nextStep() { for wake in wakes { wake() } }
    sleep(on: [:].values, seen: control.value &+ 1, nanoseconds: 0)
    let changed = (control, control.value &+ 1)
    FutexEvent.wait(whileAll: [changed, changed], timeoutNanoseconds: 0)
  }

  private func run() {
    while true {
      // Before the list is looked at, so that no change of it is slept through.
      let seen = control.value
      switch nextStep() {
      case .end:
        return
      case .wake(let wakes):
        for wake in wakes { wake() }
      case .sleep(let next, let nanoseconds):
        sleep(on: next.tables.values, seen: seen, nanoseconds: nanoseconds)
      }
    }
  }

  private func sleep(on tables: some Sequence<SeenWords>, seen: UInt32, nanoseconds: UInt64) {
    var events = [(control, seen)]
    for table in tables {
      // The wake-up is asked for before the last look at `committed`, which the kernel takes as it puts us to sleep.
      table.announceWait()
      table.append(to: &events)
    }
    FutexEvent.wait(whileAll: events, timeoutNanoseconds: nanoseconds)
  }

  /// Who is to be woken, or else what to sleep on.
  private func nextStep() -> Step {
    let now = HostClock.monotonicNanoseconds
    // Dropped after the lock: a watch that ended meanwhile leaves its last reference to the segment here.
    var tables: [ObjectIdentifier: SeenWords] = [:]
    var last: Sleep?
    defer {
      withExtendedLifetime(tables) {}
      withExtendedLifetime(last) {}
    }
    return state.withLock { state in
      last = state.sleep.take()
      if state.waits.isEmpty {
        state.isRunning = false
        return .end
      }
      var wakes: [@Sendable () -> Void] = []
      var nanoseconds = UInt64.max
      for (id, wait) in state.waits {
        guard let wait else { continue }
        let isOver = tables[ObjectIdentifier(wait.segment), default: SeenWords(wait.segment)].showEnd(of: wait.goal)
        if isOver || now >= wait.deadline || Self.isGone(wait.segment, now) {
          wakes.append(wait.wake)
          state.waits.updateValue(nil, forKey: id)
        } else {
          nanoseconds = min(nanoseconds, Self.slice(wait, now), wait.deadline - now)
        }
      }
      if !wakes.isEmpty { return .wake(wakes) }
      let (end, overflow) = now.addingReportingOverflow(nanoseconds)
      let sleep = Sleep(tables: tables, end: overflow ? .max : end)
      state.sleep = sleep
      return .sleep(sleep, nanoseconds: nanoseconds)
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
    if case .disk = wait.goal { return Segment.durableSliceNanoseconds }
    guard wait.segment.access == .observer else { return sliceNanoseconds }
    let quiet = (now &- wait.since) / 8
    return min(max(quiet, observerSlice.lowerBound), observerSlice.upperBound)
  }
}
