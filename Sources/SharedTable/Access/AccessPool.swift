import CShims
import Dispatch
import SharedMemory
import Synchronization

/// The threads on which accesses run that nobody waits for in a blocking call.
///
/// Sections block: a barrier waits for another process's, a reader of the rwlock variant for the barrier. So they run
/// neither on Swift's cooperative pool, whose few threads all tasks share, nor one thread each. A table has two lanes: one
/// thread at a time for changes, of which only one could be inside anyway, and up to four for reads. Within a lane
/// accesses begin in the order of their submission. A table that is blocked holds up no other.
final class AccessPool: Sendable {
  static let shared = AccessPool()

  struct Lane: Hashable {
    let uuid: (UInt64, UInt64)
    let changes: Bool

    init(_ table: Table, changes: Bool) {
      uuid = table.segment.uuid
      self.changes = changes
    }

    var width: Int { changes ? 1 : 4 }

    static func == (a: Lane, b: Lane) -> Bool { a.uuid == b.uuid && a.changes == b.changes }
    func hash(into hasher: inout Hasher) {
      hasher.combine(uuid.0)
      hasher.combine(changes)
    }
  }

  typealias Job = @Sendable () -> Void

  private struct Line {
    var running = 0
    var waiting: [Job] = []
    /// Of `waiting`, what is taken already.
    var taken = 0

    mutating func next() -> Job? {
      guard taken < waiting.count else { return nil }
      let job = waiting[taken]
      taken += 1
      if taken >= 64, taken * 2 >= waiting.count {
        waiting.removeFirst(taken)
        taken = 0
      }
      return job
    }
  }

  private struct State {
    var forkGeneration = shm_fork_generation()
    var lines: [Lane: Line] = [:]
  }

  /// How many accesses may wait in one lane before the next one is refused: waiting ones cost memory, and whoever submits
  /// faster than a table can take has to learn of it.
  static let depth = 10_000

  private let queue = DispatchQueue(label: "sharedtable.access", attributes: .concurrent)
  private let state = Mutex(State())

  /// - Parameter isBounded: false for who suspends meanwhile, and so submits no more than there are tasks.
  /// - Returns: false, and did nothing, if the lane is full.
  func submit(_ lane: Lane, isBounded: Bool, _ job: @escaping Job) -> Bool {
    let (isAdmitted, needsThread) = withState { state -> (Bool, Bool) in
      var line = state.lines.removeValue(forKey: lane) ?? Line()
      defer { state.lines[lane] = line }
      if isBounded, line.waiting.count - line.taken >= Self.depth { return (false, false) }
      line.waiting.append(job)
      guard line.running < lane.width else { return (true, false) }
      line.running += 1
      return (true, true)
    }
    if needsThread { queue.async { self.serve(lane) } }
    return isAdmitted
  }

  /// How many threads serve a lane.
  func threadCount(_ lane: Lane) -> Int { withState { $0.lines[lane]?.running ?? 0 } }

  /// Runs what waits in a lane, until nothing does.
  private func serve(_ lane: Lane) {
    while let job = takeNext(lane) { job() }
  }

  private func takeNext(_ lane: Lane) -> Job? {
    withState { state in
      var line = state.lines.removeValue(forKey: lane) ?? Line()
      let job = line.next()
      if job == nil { line.running -= 1 }
      // A lane that rests is forgotten: tables come and go.
      if line.running > 0 { state.lines[lane] = line }
      return job
    }
  }

  private func withState<R>(_ body: (inout State) -> R) -> R {
    ForkLock.hold {
      state.withLock { state in
        // A child has none of its parent's threads: what they were to run will not run here.
        if state.forkGeneration != shm_fork_generation() { state = State() }
        return body(&state)
      }
    }
  }
}

extension Table {
  /// How many threads of this process serve accesses of the table, for tests.
  package var accessThreads: (reads: Int, changes: Int) {
    func count(changes: Bool) -> Int { AccessPool.shared.threadCount(.init(self, changes: changes)) }
    return (count(changes: false), count(changes: true))
  }
}
