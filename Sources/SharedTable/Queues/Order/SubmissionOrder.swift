/// GCD's order, as a state machine without threads: who waits, whose turn it is, who is inside. Under the queue's lock.
///
/// - A barrier's turn comes when all that was submitted before it has finished; what is submitted after it waits.
/// - Reads between two barriers run side by side. While no barrier waits or runs, the gate is open and synchronous
///   reads are counted there; all others are counted in `reads`.
/// - While the order has no submission, a barrier may enter by the gate. A thread that changes the order first takes the gate over, and
///   with it a barrier that has entered there (``takeOverGate()``). Last it gives the gate back, if the order has no submission left
///   (``giveGateBack()``).
/// - Strictly first come, first served: a barrier is never overtaken by a read that came later, nor a read by a later
///   barrier, so neither starves.
struct SubmissionOrder {
  private let gate: FastGate
  private let limit: Int
  private(set) var waiting = SubmissionList()
  /// Asynchronous work whose turn has come.
  private(set) var ready = ReadyWork()
  /// `await` forms for which there is no room.
  private(set) var outside = SubmissionList()
  /// Asynchronous work in `waiting` and `ready`.
  private(set) var pendingWork = 0
  /// Reads whose turn has come and that have not finished, but for those that the gate counts.
  private(set) var reads = 0
  /// Barriers that wait or run. The gate is closed while there are any.
  private(set) var barriers = 0
  /// A barrier's turn has come, and the barrier has not finished. It runs, or is ready and has not begun.
  private(set) var isTurnOfBarrier = false
  /// Number of the newest submission.
  private(set) var newest: UInt64 = 0
  /// Number of what was the newest submission when the barrier that runs, or has stepped back, had its first turn.
  private var newestAtTurn: UInt64 = 0
  private var isGateClosed = false
  /// The gate is open to reads and shut to barriers.
  private var isGateOrdered = false
  /// How often it was suspended and not resumed. While that is above 0 nothing begins, and the gate is closed.
  private(set) var suspensions = 0
  /// Turns asked of the worker threads, and those under way.
  private(set) var turnsRequested = 0
  private(set) var turnsUnderWay = 0
  /// Of the turns asked for, those that the pool holds, or has let go and not begun. Below 0 for a moment, if one begins before it is noted here.
  private var turnsHeld = 0
  /// Of the turns under way, those that wait for the table.
  private(set) var turnsWaiting = 0
  /// Sleeps until no turn is under way.
  private var turnsAwaiter: WaitingThread?
  /// Not in the order any more, but counted towards the limit.
  var readerWaits = ReaderWaits()
  /// The barrier in `ready` gets no turn for now.
  private(set) var isSteppedBack = false

  init(_ gate: FastGate, limit: Int) {
    self.gate = gate
    self.limit = limit
  }

  /// Asynchronous work that has not begun, or runs.
  var pendingWorkCount: Int { outside.count + pendingWork + turnsUnderWay }

  /// Whether more asynchronous work may wait. Barriers that wait for readers count: else as many would be kept as come while one reader
  /// stays.
  var hasRoom: Bool { pendingWork + readerWaits.count < limit }

  // MARK: - The gate

  /// Called by the thread that holds the queue's lock, before it changes anything. A barrier that has entered by the gate is one of the order from
  /// then on.
  @inline(__always)
  mutating func takeOverGate() {
    if !isGateClosed && !isGateOrdered { takeOverFreeGate() }
  }

  // Out of line: in a burst the gate is closed already, and this is not called.
  @inline(never)
  private mutating func takeOverFreeGate() {
    isGateClosed = gate.takeOver()
    isGateOrdered = !isGateClosed
    if isGateClosed {
      barriers += 1
      isTurnOfBarrier = true
    }
  }

  /// Called by the same thread, after it has changed everything. If the order has no submission left, a barrier may enter by the gate again.
  @inline(__always)
  mutating func giveGateBack() {
    if isGateOrdered { giveOrderedGateBack() }
  }

  @inline(never)
  private mutating func giveOrderedGateBack() {
    guard reads == 0, waiting.count == 0, outside.count == 0 else { return }
    isGateOrdered = false
    gate.openToBarriers()
  }

  // MARK: - Submitting

  /// A synchronous read that found the gate closed. Nil: its turn has come.
  mutating func submitRead() -> WaitingThread? {
    let mayEnter = barriers == 0 && suspensions == 0
    if mayEnter {
      reads += 1
      return nil
    }
    let thread = WaitingThread(.read)
    enqueue(thread)
    return thread.place == .waiting ? thread : nil
  }

  /// A synchronous barrier. Nil: its turn has come.
  mutating func submitBarrier() -> WaitingThread? {
    announceBarrier()
    if waiting.count == 0, suspensions == 0, isFree {
      isTurnOfBarrier = true
      return nil
    }
    let thread = WaitingThread(.barrier)
    append(thread)
    return thread
  }

  /// Begins a barrier that does not wait.
  /// - Returns: whether its turn has come; else nothing was submitted.
  mutating func beginBarrierIfFree() -> Bool {
    guard barriers == 0, waiting.count == 0, outside.count == 0, suspensions == 0 else { return false }
    announceBarrier()
    if isFree {
      isTurnOfBarrier = true
      return true
    }
    barriers -= 1
    proceed()
    return false
  }

  mutating func submit(_ work: Submission) {
    pendingWork += 1
    if work.kind == .barrier { announceBarrier() }
    append(work)
    // Behind others a barrier changes nothing: those before it go on when what they wait for has ended. Nor does a read behind a barrier
    // that runs. Any other read may be one that turned back at the gate (`readAtOnce`): a barrier that waits may have seen it counted there,
    // and would wait for ever if nobody asked again for it.
    if !isTurnOfBarrier, work.kind == .read || waiting.count == 1 { proceed() }
  }

  mutating func submitOutside(_ work: Submission) {
    work.place = .outside
    outside.append(work)
    // The gate may have counted a read for a moment that then came here.
    proceed()
  }

  private mutating func announceBarrier() {
    barriers += 1
    closeGate()
  }

  private mutating func closeGate() {
    if !isGateClosed { gate.close() }
    isGateClosed = true
    isGateOrdered = false
  }

  private mutating func enqueue(_ submission: Submission) {
    append(submission)
    proceed()
  }

  private mutating func append(_ submission: Submission) {
    newest += 1
    submission.number = newest
    submission.place = .waiting
    waiting.append(submission)
  }

  // MARK: - Turns

  private var isFree: Bool {
    return !isTurnOfBarrier && reads == 0 && gate.isEmpty
  }

  /// Lets in whoever may enter now. After everything that may have made room.
  mutating func proceed() {
    repeat { admit() } while bringInside()
    if barriers == 0, suspensions == 0, isGateClosed {
      isGateClosed = false
      isGateOrdered = true
      gate.open()
    }
  }

  private mutating func admit() {
    while suspensions == 0, !isTurnOfBarrier, let first = waiting.first {
      if first.kind == .barrier {
        guard isFree else { return }
        isTurnOfBarrier = true
      } else {
        reads += 1
      }
      waiting.remove(first)
      if let thread = first.waitingThread {
        thread.place = .gone
        thread.wake()
      } else {
        first.place = .ready
        ready.append(first)
      }
    }
  }

  /// Submits `await` forms for which there is room by now.
  /// - Returns: whether there were any.
  private mutating func bringInside() -> Bool {
    guard hasRoom, outside.count > 0 else { return false }
    while hasRoom, let work = outside.popFirst() {
      pendingWork += 1
      if work.kind == .barrier { announceBarrier() }
      append(work)
    }
    return true
  }

  // MARK: - Suspending

  /// - Returns: whether it was going on before.
  mutating func suspend() -> Bool {
    suspensions += 1
    closeGate()
    return suspensions == 1
  }

  /// - Returns: whether it goes on now.
  mutating func resume() -> Bool {
    precondition(suspensions > 0, "a BarrierQueue was resumed more often than suspended")
    suspensions -= 1
    if suspensions == 0 { proceed() }
    return suspensions == 0
  }

  /// Takes out the waits for readers that are over. Each makes room.
  mutating func endReaderWaits(where isOver: (ReaderWaits.Wait) -> Bool) -> [ReaderWaits.Wait] {
    let over = readerWaits.take(where: isOver)
    if outside.count > 0 { proceed() }
    return over
  }

  mutating func finishRead() {
    reads -= 1
    if reads == 0, barriers > 0 { proceed() }
  }

  mutating func finishBarrier() {
    isTurnOfBarrier = false
    barriers -= 1
    proceed()
  }

  /// Takes out what has not begun.
  /// - Returns: false if it has begun, or was taken out before.
  mutating func withdraw(_ submission: Submission) -> Bool {
    switch submission.place {
    case .gone: return false
    case .new: break
    case .outside: outside.remove(submission)
    case .waiting:
      waiting.remove(submission)
      if submission.kind == .barrier { barriers -= 1 }
      if submission.waitingThread == nil { pendingWork -= 1 }
    case .ready:
      ready.remove(submission)
      pendingWork -= 1
      if submission.kind == .barrier {
        isSteppedBack = false
        isTurnOfBarrier = false
        barriers -= 1
      } else {
        reads -= 1
      }
    }
    submission.place = .gone
    proceed()
    return true
  }

  // MARK: - Worker threads

  /// How many turns to ask of the worker threads now, so that at most `width` of them serve this queue, besides at most
  /// `mostWaiting` that wait for the table.
  mutating func turnsToRequest(width: Int, mostWaiting: Int) -> Int {
    if isSteppedBack || suspensions > 0 { return 0 }
    let atWork = turnsUnderWay - min(turnsWaiting, mostWaiting)
    var turns = max(0, min(ready.count - turnsRequested, width - turnsRequested - atWork))
    if turnsHeld > 0 {
      // What is held waits for the table. The reads have the other turns, and are asked for as if there were no more.
      let coming = turnsRequested - turnsHeld
      turns = max(turns, min(ready.readCount - coming, width - coming - atWork))
    }
    turnsRequested += turns
    return turns
  }

  /// The pool holds a turn of the queue until fewer lanes wait for the table.
  mutating func noteHeldTurn() { turnsHeld += 1 }

  /// Whether the next turn may wait for the table.
  ///
  /// A barrier that has stepped back is not held: it waits if fewer than ``WorkerPool/limit`` lanes wait for the table's barrier; else it steps
  /// back again (``BarrierQueue/beginBarrierInTurn(_:)``), or ends at its deadline.
  var mayNextTurnWait: Bool {
    guard ready.readCount == 0, let next = ready.firstToWait else { return false }
    return !next.isBarrierWork || next.asBarrierWork.turnDeadline == nil
  }

  /// Begins a turn: what to run in it.
  /// - Parameters:
  ///   - isReadFirst: a read has it, if one is ready: as many lanes wait for the table as may.
  ///   - wasHeld: it is one of which ``noteHeldTurn()`` was told, or will be.
  mutating func beginTurn(isReadFirst: Bool = false, wasHeld: Bool = false) -> Submission? {
    turnsRequested -= 1
    if wasHeld { turnsHeld -= 1 }
    turnsUnderWay += 1
    guard suspensions == 0, let work = ready.popFirst(isReadFirst: isReadFirst) else { return nil }
    // A turn that was asked for before may be the one of a barrier that stepped back.
    isSteppedBack = false
    work.place = .gone
    pendingWork -= 1
    if outside.count > 0 { proceed() }
    return work
  }

  /// Notes, at the first turn of a barrier, which submission is the newest: the last that waited with the barrier.
  /// - Parameter isFirst: the barrier has not stepped back before.
  /// - Returns: what was noted, at the barrier's later turns, too.
  mutating func noteNewest(atFirstTurn isFirst: Bool) -> UInt64 {
    if isFirst { newestAtTurn = newest }
    return newestAtTurn
  }

  /// Takes out the asynchronous barriers that come right after the one that runs: to share that one's fate on the table.
  /// - Parameters:
  ///   - most: so many of them.
  ///   - mayJoin: the last word about each; after one that may not, none does.
  mutating func continueBarrier(most: Int, if mayJoin: (BarrierWork) -> Bool = { _ in true }) -> SubmissionList {
    if suspensions > 0 { return SubmissionList() }
    let taken = waiting.cut(most: most) { next in
      guard next.isBarrierWork && mayJoin(next.asBarrierWork) else { return false }
      next.place = .gone
      return true
    }
    pendingWork -= taken.count
    barriers -= taken.count
    if outside.count > 0 { proceed() }
    return taken
  }

  /// Puts barriers that ``continueBarrier`` took out back at the front.
  /// - Returns: those that were cancelled meanwhile, which nobody else may hold any more: to be let go without the queue's lock, since
  ///   a closure's end may run anything.
  mutating func putBack(_ taken: inout SubmissionList) -> SubmissionList {
    var (next, cancelled) = (SubmissionList(), SubmissionList())
    while let barrier = taken.popFirst() {
      if barrier.asBarrierWork.isClaimed {
        cancelled.append(barrier)
        continue
      }
      barrier.place = .waiting
      pendingWork += 1
      barriers += 1
      next.append(barrier)
    }
    waiting.prepend(next)
    return cancelled
  }

  mutating func endTurn() {
    turnsUnderWay -= 1
    if turnsUnderWay == 0 { turnsAwaiter.take()?.wake() }
  }

  /// For one thread a process, at its end.
  /// - Returns: the calling thread, woken once no turn is under way. Nil: none is.
  mutating func awaitTurns() -> WaitingThread? {
    turnsAwaiter = turnsUnderWay > 0 ? WaitingThread(.barrier) : nil
    return turnsAwaiter
  }

  /// Ends the turn of a barrier that has not begun. It is ready still, and gets another turn once it has come back.
  /// - Returns: false if it was cancelled meanwhile: it has left the queue, and what is behind it goes on.
  mutating func stepBack(_ barrier: BarrierWork) -> Bool {
    endTurn()
    // Who cancelled it claimed it first, and did not find it in the queue. Who cancels it from here on takes it out.
    if barrier.isClaimed {
      finishBarrier()
      return false
    }
    pendingWork += 1
    barrier.place = .ready
    ready.append(barrier)
    isSteppedBack = true
    return true
  }

  mutating func comeBack() { isSteppedBack = false }

  mutating func beginWait() { turnsWaiting += 1 }

  mutating func endWait() { turnsWaiting -= 1 }
}
