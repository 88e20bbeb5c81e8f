import CShims
import SharedMemory

/// W: at most one barrier at a time, on the whole host (G3).
///
/// Robust, process-shared, not priority-inheriting. Protects the journal, the rings, the allocator, and every store
/// to *data* but those of ``DataLayout/durable`` and ``DataLayout/keeping``, which are the store's keeper's. It is taken before the rwlock variant's exclusion and released after it.
struct WriterLock {
  let ctl: MappedMemory
  let data: MappedMemory
  let slots: Slots

  private var mutex: RobustMutex { unsafe RobustMutex(at: ctl.pointer(ControlLayout.writerMutex)) }
  private var waitCounts: BarrierWaitCounts { BarrierWaitCounts(ctl: ctl) }

  enum Outcome {
    case acquired
    /// Acquired from a dead owner: ``WriterLockRecovery``.
    case ownerDied
  }

  func initialize() throws(SystemError) { try mutex.initialize() }

  /// Waits for W: ``WriterLockWait``.
  /// - Parameter slot: the calling thread's, which says who it is.
  /// - Parameter now: since when it is the owner if it need not wait; CLOCK_MONOTONIC, may be a tick behind.
  /// - Throws: `timedOut` naming the holder; `damaged` if the lock itself is beyond repair.
  @inline(__always)
  func lock(
    slot: Int, timeoutNanoseconds: UInt64, now: UInt64 = HostClock.coarseNanoseconds
  ) throws(EngineError) -> Outcome {
    let result = WriterLockWait.mayTry(ctl) ? mutex.tryLock() : .busy
    guard result == .acquired else { return try lock(slot, timeoutNanoseconds, now, after: result) }
    waitCounts.countUnwaited()
    noteOwner(slot, since: now)
    return .acquired
  }

  /// The rest, if the first attempt did not take W, or took it from a dead owner.
  @inline(never)
  private func lock(
    _ slot: Int, _ timeoutNanoseconds: UInt64, _ now: UInt64, after first: LockResult
  ) throws(EngineError) -> Outcome {
    var (since, result) = (now, first)
    if result == .busy {
      shm_probe_barrier_wait(data.loadRelaxed(DataLayout.uuid))
      let start = HostClock.monotonicNanoseconds
      let turn = ctl.loadRelaxed(ControlLayout.turns)
      result = WriterLockWait(ctl: ctl, mutex: mutex, slot: slot).run(timeoutNanoseconds: timeoutNanoseconds)
      since = HostClock.monotonicNanoseconds
      if result.isAcquired { waitCounts.count(waitedNanoseconds: since &- start, since: turn) }
    } else if result.isAcquired {
      waitCounts.countUnwaited()
    }
    switch result {
    case .acquired:
      noteOwner(slot, since: since)
      return .acquired
    case .acquiredOwnerDied:
      noteOwner(slot, since: since)
      return .ownerDied
    case .busy, .timedOut:
      throw .timedOut(holder)
    case .wouldDeadlock:
      throw .wouldDeadlock(outer: "barrier")
    case .notRecoverable:
      throw .damaged("its writer lock was left unrecoverable")
    case .failed(let errno):
      throw .damaged("its writer lock is not a lock (errno \(errno))")
    }
  }

  /// One attempt by a barrier that does not wait. Not past a foremost waiter that is due.
  /// - Parameter now: CLOCK_MONOTONIC; may be a tick behind.
  /// - Returns: nil if W is not to be had at once.
  @inline(__always)
  func lockAtOnce(slot: Int, now: UInt64) -> Outcome? {
    guard WriterLockWait.mayTry(ctl), let outcome = tryLock(slot: slot, now: now) else { return nil }
    waitCounts.countUnwaited()
    return outcome
  }

  /// One attempt, for rare work that can wait. It does not look whether a foremost waiter is due.
  /// - Returns: nil if W is not to be had at once.
  func tryLock(slot: Int) -> Outcome? { tryLock(slot: slot, now: HostClock.coarseNanoseconds) }

  @inline(__always)
  private func tryLock(slot: Int, now: UInt64) -> Outcome? {
    switch mutex.tryLock() {
    case .acquired:
      noteOwner(slot, since: now)
      return .acquired
    case .acquiredOwnerDied:
      noteOwner(slot, since: now)
      return .ownerDied
    default:
      return nil
    }
  }

  /// Makes W usable again after EOWNERDEAD, so that it can be given back. From then on only shared memory tells what
  /// the dead owner left.
  func markConsistent() {
    try? mutex.markConsistent()
  }

  @inline(__always)
  func unlock() {
    // Stored after all else that the owner stored. If it dies before this, the next owner finds the slot here, and
    // looks for what is left to be done.
    crashFence()
    ctl.storeRelaxed(ControlLayout.writerSlot, 0)
    mutex.unlockHeld()
    // Here and not after each commit: every change of `committed` is made by an owner of W, so no waiter is forgotten,
    // and a thread that is woken finds W free.
    CommitSignal(ctl: ctl, data: data).post()
  }

  @inline(__always)
  private func noteOwner(_ slot: Int, since: UInt64) {
    // Only the owner stores it, so it is no atomic addition; a death between load and store costs a count.
    ctl.storeRelaxed(ControlLayout.turns, ctl.loadRelaxed(ControlLayout.turns) &+ 1)
    // ORDER unfinished-owner. TableExclusion.isOpen: the mark is stored before our slot replaces the dead owner's, and
    // stays until that one's work is done. If we give W back before that, nothing else tells the next owner.
    if ctl.loadRelaxed(ControlLayout.writerSlot) != 0 { ctl.storeRelaxed(ControlLayout.unfinished, 1) }
    crashFence()
    ctl.storeRelaxed(ControlLayout.writerSlot, UInt64(truncatingIfNeeded: slot) &+ 1)
    ctl.storeRelaxed(ControlLayout.writerSince, since)
  }

  /// The thread that holds W, for people: W may have changed hands by the time it is read. None once that thread is dead:
  /// its note stays until the next writer recovers, and would show a process that has long ended as the one at work.
  var holder: Holder? {
    let word = ctl.loadRelaxed(ControlLayout.writerSlot)
    guard word > 0, word <= UInt64(slots.count) else { return nil }
    let slot = Int(word) - 1
    guard slots.isHeld(slot) else { return nil }
    let since = ctl.loadRelaxed(ControlLayout.writerSince)
    let thread = slots.holder(slot)
    return Holder(
      pid: thread.pid, tid: thread.tid, command: thread.command,
      heldNanoseconds: HostClock.monotonicNanoseconds &- since,
      label: BarrierLabel.current(ctl, committed: data.loadAcquire(DataLayout.committed)))
  }
}
