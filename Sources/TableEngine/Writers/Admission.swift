import CShims
import SharedMemory

/// The way to the writer lock W: a barrier is admitted when it owns W, a dead writer's work is undone, no key lock is in
/// its way, and readers are within the limbo budget.
///
/// ```
/// admit ── no key lock anywhere ──> W ──> table exclusion ──> limbo budget ──> admitted
///   │                                            │
///   └── else, or over budget ──> W ──────────────┴─> key locks ──> as above
///                 ^                                   │ in the way, or a reader that is not stalled yet: give W back
///                 └────────── sleep, until the deadline ┘
/// ```
/// Nearly every barrier ``waitsForWAlone``, and comes in by ``admitByWAlone(slot:start:timeoutNanoseconds:)``.
struct Admission {
  let participant: Segment.Participant

  /// What a barrier asks for.
  struct Request {
    /// The calling thread's.
    let slot: Int
    let reach: BarrierReach
    /// CLOCK_MONOTONIC; may be a tick behind.
    let start: UInt64
    let timeoutNanoseconds: UInt64

    var deadline: UInt64 { start &+ timeoutNanoseconds }
  }

  /// As far as can be seen without W: is W all that a barrier may have to wait for? Then only its wait for W can time
  /// out.
  @inline(__always)
  var waitsForWAlone: Bool {
    participant.state.variant == .rcu && StalledReaderPolicy(participant.ctl) != .wait && !participant.keyLocks.mayBeAny
  }

  /// The frequent case. Returns with W owned.
  /// - Returns: false with W given back, if there is more to wait for after all.
  /// - Throws: as ``admit(_:)``.
  @inline(__always)
  func admitByWAlone(slot: Int, start: UInt64, timeoutNanoseconds: UInt64) throws(EngineError) -> Bool {
    try participant.acquireWriterLock(slot: slot, timeoutNanoseconds: timeoutNanoseconds, now: start)
    if isFreeBehindW { return true }
    return try finishSlowly(slot: slot, deadline: start &+ timeoutNanoseconds)
  }

  /// With W owned: is nothing else in the way?
  @inline(__always)
  private var isFreeBehindW: Bool {
    // Words that are nearly always 0, asked together.
    let inTheWay =
      participant.keyLocks.stateWord | TableExclusion(participant: participant).stateWord
      | LimboBudget(state: participant.state).roomWanted
    return inTheWay == 0 && LimboBudget(state: participant.state).isRespected
  }

  @inline(never)
  private func finishSlowly(slot: Int, deadline: UInt64) throws(EngineError) -> Bool {
    if participant.keyLocks.mayBeAny {
      participant.lock.unlock()
      return false
    }
    do throws(EngineError) {
      try recoverAndReclaim(slot: slot, deadline: deadline)
      return true
    } catch {
      guard isToWait(for: error) else { throw error }
      return false
    }
  }

  /// Returns with W owned; for keys to be locked, with W and the key lock.
  /// - Throws: with W given back: `timedOut` naming the thread in the way, `full(.limbo)`, `damaged`.
  @inline(never)
  func admit(_ request: Request) throws(EngineError) {
    if !participant.keyLocks.mayBeAny, !request.reach.locksKeys {
      do throws(EngineError) {
        if try admitIfNoKeyIsLocked(request) { return }
      } catch {
        guard isToWait(for: error) else { throw error }
      }
    }
    try waitForAdmission(request)
  }

  /// - Returns: false with W given back, if keys are locked after all.
  private func admitIfNoKeyIsLocked(_ request: Request) throws(EngineError) -> Bool {
    try participant.acquireWriterLock(
      slot: request.slot, timeoutNanoseconds: request.timeoutNanoseconds, now: request.start)
    guard !participant.keyLocks.mayBeAny else {
      participant.lock.unlock()
      return false
    }
    try finish(request)
    return true
  }

  /// Takes W if nothing at all is in the way, and waits for nobody who holds it. It does what an earlier barrier has left to do: it
  /// undoes a dead writer's work, and makes room where that was short. For that a compaction may wait for readers in flight, some milliseconds in all
  /// (``Compactor``).
  /// - Returns: false with nothing owned. It does not say what was in the way: a later ``admit(_:)`` finds that out.
  @inline(__always)
  func admitAtOnce(slot: Int, now: UInt64) -> Bool {
    guard participant.state.variant == .rcu, !participant.keyLocks.mayBeAny,
      participant.acquireWriterLockAtOnce(slot: slot, now: now)
    else { return false }
    return isFreeBehindW || finishAtOnce(slot: slot)
  }

  @inline(never)
  private func finishAtOnce(slot: Int) -> Bool {
    guard !participant.keyLocks.mayBeAny else {
      participant.lock.unlock()
      return false
    }
    let request = Request(slot: slot, reach: .table, start: 0, timeoutNanoseconds: 0)
    do throws(EngineError) { try finish(request) } catch { return false }
    return true
  }

  /// Takes W and the key lock if nothing is in their way. Never waits.
  /// - Returns: false with nothing owned.
  /// - Throws: `damaged`, with nothing owned.
  func lockKeysAtOnce(_ request: Request) throws(EngineError) -> Bool {
    guard participant.acquireWriterLockAtOnce(slot: request.slot, now: request.start) else { return false }
    try prepareToLockKeys(slot: request.slot)
    var keyLock = request.reach.request(slot: request.slot, seed: participant.state.hashSeed)!
    guard participant.keyLocks.grant(&keyLock) else {
      // `grant` has stored the request in the slot as one that waits: take that back.
      participant.keyLocks.release(slot: request.slot)
      participant.lock.unlock()
      return false
    }
    return true
  }

  /// What an owner of W sees to before it locks keys. Never waits. Where it throws, W was given back.
  ///
  /// What a barrier of keys finds it keeps without a pin: nothing of its keys is moved while they are locked. A process that died while it moved an
  /// entry has left a copy, which readers find until the next barrier of the table undoes that, and whose block is reused then. So it is undone
  /// before. In the rwlock variant the undoing has to wait for readers, so it is left to the first read of this barrier: that finds `wseq` odd, and
  /// recovers (``RWExclusion/enterShared(slot:timeoutNanoseconds:)``).
  private func prepareToLockKeys(slot: Int) throws(EngineError) {
    let exclusion = TableExclusion(participant: participant)
    do throws(EngineError) {
      if participant.state.variant == .rcu, !exclusion.isOpen { try exclusion.enter(slot: slot, 0) }
      try DamageMark(ctl: participant.ctl).check()
    } catch {
      participant.lock.unlock()
      throw error
    }
  }

  /// What is left to do once W is owned and no key lock is in the way. Where it throws, W was given back.
  private func finish(_ request: Request) throws(EngineError) {
    if !TableExclusion(participant: participant).isOpen || !LimboBudget(state: participant.state).needsNoWork {
      try recoverAndReclaim(slot: request.slot, deadline: request.deadline)
    }
  }

  @inline(never)
  private func recoverAndReclaim(slot: Int, deadline: UInt64) throws(EngineError) {
    do throws(EngineError) {
      try TableExclusion(participant: participant).enter(slot: slot, deadline)
      try LimboBudget(state: participant.state).enforce()
    } catch {
      participant.lock.unlock()
      throw error
    }
  }

  /// Is the error about a reader that a writer waits for?
  @inline(never)
  private func isToWait(for error: EngineError) -> Bool {
    guard case .full(.limbo(let reader)) = error else { return false }
    return StalledReaderPolicy(participant.ctl).waits(for: reader)
  }

  // MARK: - Waiting

  /// Why W was given back again, for the time being.
  private enum Delay {
    case keyLock(KeyLocks.Request)
    /// Readers keep more than their budget.
    case readers(EngineError)
  }

  /// One barrier's way through several attempts.
  private struct Attempts {
    let request: Request
    /// Nanoseconds that are left.
    var left: UInt64
    /// How long to sleep next time for readers.
    var pause: UInt64 = 1_000_000
    /// Made when a key lock may be in the way.
    var keyLock: KeyLocks.Request?
    /// The error to throw if W itself cannot be had in time: it says why W was given back last.
    var refusal: EngineError?

    init(_ request: Request) {
      self.request = request
      left = 0
      updateLeft()
    }

    mutating func updateLeft() {
      let now = HostClock.monotonicNanoseconds
      left = now < request.deadline ? request.deadline - now : 0
    }
  }

  /// Gives W back while it waits for a key lock or for readers. So every waiter's error
  /// names what that waiter waits for, and a waiter that dies holds up no other.
  @inline(never)
  private func waitForAdmission(_ request: Request) throws(EngineError) {
    var attempts = Attempts(request)
    do throws(EngineError) {
      while let delay = try attempt(&attempts) {
        attempts.updateLeft()
        sleep(delay, &attempts)
        if attempts.left == 0 { throw attempts.refusal! }
        attempts.updateLeft()
      }
    } catch {
      if let keyLock = attempts.keyLock, keyLock.stamp != 0 { participant.keyLocks.release(slot: request.slot) }
      throw error
    }
  }

  private func sleep(_ delay: Delay, _ attempts: inout Attempts) {
    switch delay {
    case .keyLock(let keyLock):
      attempts.refusal = .timedOut(keyLock.obstacle.map(participant.slots.holder))
      if attempts.left > 0 { participant.keyLocks.sleep(keyLock, timeoutNanoseconds: attempts.left) }
    case .readers(let error):
      attempts.refusal = error
      if attempts.left > 0 { shmos_sleep(min(attempts.pause, attempts.left)) }
      attempts.pause = min(attempts.pause * 2, 16_000_000)
    }
  }

  /// Takes W once.
  /// - Returns: nil with W owned; else W was given back.
  private func attempt(_ attempts: inout Attempts) throws(EngineError) -> Delay? {
    let request = attempts.request
    try lock(attempts)
    if request.reach.locksKeys { try prepareToLockKeys(slot: request.slot) }
    if participant.keyLocks.mayBeAny || request.reach.locksKeys {
      if attempts.keyLock == nil {
        attempts.keyLock = request.reach.request(slot: request.slot, seed: participant.state.hashSeed)
      }
      if attempts.keyLock != nil, !participant.keyLocks.grant(&attempts.keyLock!) {
        participant.lock.unlock()
        return .keyLock(attempts.keyLock!)
      }
    }
    if request.reach.locksKeys { return nil }
    do throws(EngineError) {
      try finish(request)
      return nil
    } catch {
      guard isToWait(for: error) else { throw error }
      return .readers(error)
    }
  }

  private func lock(_ attempts: Attempts) throws(EngineError) {
    do throws(EngineError) {
      try participant.acquireWriterLock(slot: attempts.request.slot, timeoutNanoseconds: attempts.left)
    } catch {
      throw attempts.refusal ?? error
    }
  }
}
