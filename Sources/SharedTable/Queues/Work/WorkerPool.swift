import Dispatch
import SharedMemory
import TableEngine

/// The threads that run asynchronous sections: few, shared by all queues of the process, and only while there is work.
///
/// Sections may wait long, for another process's barrier. On Dispatch's global queues that would hold up everybody
/// else's work and, on Linux, the Swift tasks that run there; so they run in *lanes*, serial Dispatch queues, each of
/// which gets a thread of its own when it has work and loses it a few seconds after. Queues with work take turns.
///
/// A lane whose section waits for the table says so, and another may begin in its place: what waits for one table does not
/// hold up the work of others. Only so many may wait (``most``): beyond that, queues do wait for each other.
///
/// The barrier of one table is worth waiting for in ``limit`` lanes only, since it comes to one of them at a time. Further
/// queues *step back*: they keep their place in their own order and have no lane until one of these lanes waits no longer.
/// For all that there is to wait for in one table, its barrier, keys and readers, ``mostOfTable`` lanes may wait. Further turns of its
/// queues are *held*, but for reads that wait for nothing and for barriers that had stepped back: a table that a stopped process holds must not take all lanes from the others.
final class WorkerPool: Sendable {
  static let shared = WorkerPool()

  private struct State {
    var turns = TurnQueue()
    var idleLanes: [DispatchQueue] = []
    var lanes = 0
    /// How many of the lanes have a section that waits.
    var waiting = 0
    /// Crowds by segment. Only tables for which a lane waits, or a turn is held, are here.
    var crowds: [ObjectIdentifier: Crowd] = [:]
    /// How many lanes were ever made.
    var newest = 0
    let alarm: Alarm
    /// When the alarm is to ring; the end of time if it is not.
    var alarmInstant = UInt64.max
  }

  /// Rings when the first of the queues that stepped back is to come back. One for all: what Dispatch is asked to do later it keeps until
  /// then, also if that is cancelled, and with it would keep the queue and its table.
  private typealias Alarm = any DispatchSourceTimer

  /// The lanes and queues of this process that wait for one table.
  private struct Crowd {
    /// How many lanes wait for the table.
    var waiting = 0
    /// How many of them wait for its barrier.
    var waitingForBarrier = 0
    /// Turns that begin once fewer lanes wait. While there are some, ``mostOfTable`` lanes wait, or a turn that was let go is in the
    /// pool's line, or runs and will let the next one go.
    var held = TurnQueue()
    /// Not before one of these lanes waits no longer, or their own wait is over.
    var steppedBack: [SteppedBack] = []

    mutating func takeSteppedBack(where isToCome: (SteppedBack) -> Bool) -> [BarrierQueue] {
      defer { steppedBack.removeAll(where: isToCome) }
      return steppedBack.filter(isToCome).map(\.queue)
    }

    var isEmpty: Bool { waiting == 0 && waitingForBarrier == 0 && steppedBack.isEmpty && held.isEmpty }
  }

  private struct SteppedBack {
    let queue: BarrierQueue
    let deadline: Deadline
  }

  /// The most lanes that are at work, or idle: more than processors, since what a closure does may wait, too.
  let limit = max(16, 2 * FastGate.stripesPerGate)
  /// The most lanes, and so threads, in the process, with those that wait for a table: whatever the machine, half of the 255 threads that
  /// Dispatch has for all serial queues of one priority. With all of them the program's own queues would have none, nor would the pool's clock.
  let most = 128
  /// The most lanes that wait for one table, but for those that had begun their turns before it came to so many.
  var mostOfTable: Int { most / 2 }
  /// The most that one queue occupies with work, so that a few closures that wait do not hold up the others.
  var width: Int { limit / 4 }
  /// The most lanes of one queue that wait, so that one queue does not take all.
  var mostWaiting: Int { limit }

  private static let laneMark = DispatchSpecificKey<Void>()

  /// Does the calling thread serve a lane?
  static var isOnLane: Bool { DispatchQueue.getSpecific(key: laneMark) != nil }

  private let state: Locked<State>
  private let clock = DispatchQueue(label: "SharedTable.clock")
  private let forkGeneration = ForkGeneration()

  private init() {
    let alarm = DispatchSource.makeTimerSource(queue: clock)
    alarm.setEventHandler { WorkerPool.shared.comeBackInTime() }
    state = Locked(State(alarm: alarm))
  }

  /// False in a child whose parent had used the pool: the lanes' threads stayed there.
  var isOfThisProcess: Bool { forkGeneration.isOfThisProcess }

  /// How many lanes have nothing to do.
  var idle: Int { state.withLock { $0.idleLanes.count } }

  /// How many lanes wait for a table.
  func waiting(for table: Segment) -> Int { state.withLock { $0.crowds[ObjectIdentifier(table)]?.waiting ?? 0 } }

  /// Has one of the threads call `runTurn` on the queue, as often as asked.
  func request(_ turns: Int, of queue: BarrierQueue) {
    for _ in 0..<turns {
      start(
        state.withLock { state in
          state.turns.append(Turn(queue: queue))
          return state.idleLanes.popLast() ?? newLane(&state)
        })
    }
  }

  /// On a lane: has another one begin while `body` waits for a table.
  func whileWaiting<R, E: Error>(for table: Segment, _ body: () throws(E) -> R) throws(E) -> R {
    let id = ObjectIdentifier(table)
    start(state.withLock { state in count(1, waitingFor: id, &state) })
    defer { start(state.withLock { state in count(-1, waitingFor: id, &state) }) }
    return try body()
  }

  /// - Returns: a lane to start, for a turn that no other lane takes.
  private func count(_ change: Int, waitingFor id: ObjectIdentifier, _ state: inout State) -> DispatchQueue? {
    state.waiting += change
    state.crowds[id, default: Crowd()].waiting += change
    letHeldTurnGo(id, &state)
    return state.turns.isEmpty ? nil : state.idleLanes.popLast() ?? newLane(&state)
  }

  /// Lets one of a table's held turns begin if there may be one more lane that waits for it.
  private func letHeldTurnGo(_ id: ObjectIdentifier, _ state: inout State) {
    guard var crowd = state.crowds.removeValue(forKey: id) else { return }
    if crowd.waiting < mostOfTable, let turn = crowd.held.popFirst() { state.turns.append(turn) }
    if !crowd.isEmpty { state.crowds[id] = crowd }
  }

  /// On a lane: the same while `body` waits for the barrier of a table.
  /// - Returns: nil if ``limit`` lanes wait for that one; `body` was not called then.
  func whileWaiting<R, E: Error>(forBarrierOf table: Segment, _ body: () throws(E) -> R) throws(E) -> R? {
    let id = ObjectIdentifier(table)
    let isOneOfFew = state.withLock { state in
      if isCrowdFull(id, state) { return false }
      state.crowds[id, default: Crowd()].waitingForBarrier += 1
      return true
    }
    guard isOneOfFew else { return nil }
    defer {
      // All of them, for one that finds the table free at once would call nobody else. Those too many step back again.
      for queue in state.withLock({ leaveCrowd(id, &$0) }) { queue.comeBack() }
    }
    return try whileWaiting(for: table, body)
  }

  /// Whether ``limit`` lanes wait for the barrier of a table: further queues step back.
  func isCrowdFull(of table: Segment) -> Bool {
    state.withLock { isCrowdFull(ObjectIdentifier(table), $0) }
  }

  private func isCrowdFull(_ id: ObjectIdentifier, _ state: State) -> Bool {
    state.crowds[id]?.waitingForBarrier == limit
  }

  /// Has ``BarrierQueue/comeBack()`` called when a lane no longer waits for the barrier of the queue's table, or at the deadline.
  /// - Returns: false if fewer than ``limit`` wait by now; it will not be called.
  func addToCrowd(_ queue: BarrierQueue, until deadline: Deadline) -> Bool {
    let id = ObjectIdentifier(queue.table.segment)
    return state.withLock { state in
      guard isCrowdFull(id, state) else { return false }
      state.crowds[id]?.steppedBack.append(SteppedBack(queue: queue, deadline: deadline))
      setAlarm(deadline, &state)
      return true
    }
  }

  /// Sets the alarm to this deadline, unless it rings before.
  private func setAlarm(_ deadline: Deadline, _ state: inout State) {
    guard deadline.instant < state.alarmInstant else { return }
    state.alarmInstant = deadline.instant
    state.alarm.schedule(deadline: deadline.dispatchTime)
    // Not before: most processes never need it.
    state.alarm.activate()
  }

  /// The alarm. All that stepped back may have come back before.
  private func comeBackInTime() {
    let now = HostClock.monotonicNanoseconds
    let queues = state.withLock { state in
      var queues: [BarrierQueue] = []
      var next = Deadline.never
      for id in state.crowds.keys {
        queues += state.crowds[id]!.takeSteppedBack { $0.deadline.instant <= now }
        for left in state.crowds[id]!.steppedBack where left.deadline.instant < next.instant { next = left.deadline }
      }
      state.alarmInstant = .max
      setAlarm(next, &state)
      return queues
    }
    for queue in queues { queue.comeBack() }
  }

  /// Calls `body`, which is short, when the deadline is past.
  func at(_ deadline: Deadline, _ body: @escaping @Sendable () -> Void) {
    clock.asyncAfter(deadline: deadline.dispatchTime, execute: body)
  }

  /// - Returns: the queues that come back.
  private func leaveCrowd(_ id: ObjectIdentifier, _ state: inout State) -> [BarrierQueue] {
    guard var crowd = state.crowds.removeValue(forKey: id) else { return [] }
    crowd.waitingForBarrier -= 1
    let queues = crowd.takeSteppedBack { _ in true }
    if !crowd.isEmpty { state.crowds[id] = crowd }
    return queues
  }

  /// Nil if there are enough.
  private func newLane(_ state: inout State) -> DispatchQueue? {
    guard state.lanes - state.waiting < limit, state.lanes < most else { return nil }
    state.lanes += 1
    state.newest += 1
    let lane = DispatchQueue(label: "SharedTable.lane.\(state.newest)")
    lane.setSpecific(key: Self.laneMark, value: ())
    return lane
  }

  private func start(_ lane: DispatchQueue?) {
    if let lane { lane.async { @Sendable [self] in serve(lane) } }
  }

  private func serve(_ lane: DispatchQueue) {
    var served: BarrierQueue?
    // Let go before the next turn, which may last long: a queue holds its table.
    while let (turn, isTableFull) = next(lane, after: served.take()) {
      turn.queue.runTurn(isReadFirst: isTableFull, wasHeld: turn.wasHeld)
      served = turn.queue
    }
  }

  /// - Returns: the turn, and whether as many lanes wait for its table as may: it is for a read then, if one is ready.
  ///   Nil if the lane has nothing to do. It is kept, unless there are more than enough now that others wait no longer:
  ///   idle ones go first, for this one may have been woken for a turn that none of them would be woken for again.
  /// - Parameter served: whose turn has just ended.
  private func next(_ lane: DispatchQueue, after served: BarrierQueue?) -> (Turn, isTableFull: Bool)? {
    var served = served
    while true {
      guard let (turn, isTableFull) = nextTurn(lane, after: served) else { return nil }
      // Asked without the pool's lock: the queue has one of its own.
      guard isTableFull, turn.queue.mayNextTurnWait, state.withLock({ hold(turn, &$0) }) else {
        return (turn, isTableFull)
      }
      if !turn.wasHeld { turn.queue.noteHeldTurn() }
      served = nil
    }
  }

  /// - Returns: whose turn it is, and whether as many lanes wait for its table as may.
  private func nextTurn(_ lane: DispatchQueue, after served: BarrierQueue?) -> (Turn, isTableFull: Bool)? {
    state.withLock { state in
      if let served, !state.crowds.isEmpty { letHeldTurnGo(ObjectIdentifier(served.table.segment), &state) }
      while state.lanes - state.waiting > limit {
        state.lanes -= 1
        if state.idleLanes.popLast() == nil { return nil }
      }
      guard let turn = state.turns.popFirst() else {
        state.idleLanes.append(lane)
        return nil
      }
      return (turn, isTableFull(turn.queue, state))
    }
  }

  /// Whether as many lanes wait for a queue's table as may.
  private func isTableFull(_ queue: BarrierQueue, _ state: State) -> Bool {
    if state.crowds.isEmpty { return false }
    return (state.crowds[ObjectIdentifier(queue.table.segment)]?.waiting ?? 0) >= mostOfTable
  }

  /// Holds a queue's turn until fewer lanes wait for its table.
  /// - Returns: false if fewer do by now.
  private func hold(_ turn: Turn, _ state: inout State) -> Bool {
    guard isTableFull(turn.queue, state) else { return false }
    state.crowds[ObjectIdentifier(turn.queue.table.segment)]!.held.append(Turn(queue: turn.queue, wasHeld: true))
    return true
  }
}

/// A turn that a queue asked for.
private struct Turn {
  let queue: BarrierQueue
  /// It was held, and its queue knows that.
  var wasHeld = false
}

/// First in, first out, in amortised constant time.
private struct TurnQueue {
  private var turns: [Turn?] = []
  private var first = 0

  var isEmpty: Bool { first == turns.count }

  mutating func append(_ turn: Turn) { turns.append(turn) }

  mutating func popFirst() -> Turn? {
    guard first < turns.count else { return nil }
    defer { first += 1 }
    if first >= 64, first * 2 >= turns.count {
      turns.removeFirst(first)
      first = 0
    }
    return turns[first].take()
  }
}
