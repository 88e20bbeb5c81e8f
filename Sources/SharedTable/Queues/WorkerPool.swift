import CShims
import Dispatch

/// The threads that run asynchronous sections: few, shared by all queues of the process, and only while there is work.
///
/// Sections may wait long, for another process's barrier. On Dispatch's global queues that would hold up everybody
/// else's work and, on Linux, the Swift tasks that run there; so they run in *lanes*, serial Dispatch queues, each of
/// which gets a thread of its own when it has work and loses it a few seconds after. Queues with work take turns.
final class WorkerPool: Sendable {
  static let shared = WorkerPool()

  private struct State {
    var turns = TurnQueue()
    var idleLanes: [DispatchQueue] = []
    var lanes = 0
  }

  /// The most lanes, and so threads, in the process: more than processors, since a section may be waiting.
  let limit = max(16, 2 * ReaderGate.stripesPerGate)
  /// The most that one queue occupies, so that a few that wait for their tables do not hold up the others.
  var width: Int { limit / 4 }

  private let state = Locked(State())
  private let forkGeneration = shm_fork_generation()

  /// False in a child whose parent had used the pool: the lanes' threads stayed there.
  var isOfThisProcess: Bool { shm_fork_generation() == forkGeneration }

  /// Has one of the threads call `takeTurn` on the queue, as often as asked.
  func request(_ turns: Int, of queue: BarrierQueue) {
    for _ in 0..<turns {
      let lane = state.withLock { state -> DispatchQueue? in
        state.turns.append(queue)
        if let lane = state.idleLanes.popLast() { return lane }
        guard state.lanes < limit else { return nil }
        state.lanes += 1
        return DispatchQueue(label: "SharedTable.lane.\(state.lanes)")
      }
      if let lane { lane.async { @Sendable [self] in serve(lane) } }
    }
  }

  private func serve(_ lane: DispatchQueue) {
    while let queue = next(lane) { queue.takeTurn() }
  }

  private func next(_ lane: DispatchQueue) -> BarrierQueue? {
    state.withLock { state in
      let queue = state.turns.popFirst()
      if queue == nil { state.idleLanes.append(lane) }
      return queue
    }
  }
}

/// First in, first out, in amortised constant time.
private struct TurnQueue {
  private var queues: [BarrierQueue?] = []
  private var first = 0

  mutating func append(_ queue: BarrierQueue) { queues.append(queue) }

  mutating func popFirst() -> BarrierQueue? {
    guard first < queues.count else { return nil }
    defer { first += 1 }
    if first >= 64, first * 2 >= queues.count {
      queues.removeFirst(first)
      first = 0
    }
    return queues[first].take()
  }
}
