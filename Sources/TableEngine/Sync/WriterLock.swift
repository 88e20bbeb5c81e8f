import CShims
import SharedMemory

/// W: at most one barrier at a time, on the whole host (G3).
///
/// Robust, process-shared, not priority-inheriting. Protects the journal, the rings, the allocator, and every store
/// to *data*. It is taken before the rwlock variant's exclusion and released after it.
struct WriterLock {
  let ctl: Memory

  private var mutex: RobustMutex { unsafe RobustMutex(at: ctl.pointer(ControlLayout.writerMutex)) }

  enum Outcome {
    case acquired
    /// Acquired from a dead owner: recover, then ``markConsistent()``.
    case ownerDied
  }

  func initialize() throws(SystemError) { try mutex.initialize() }

  /// Waits for W; spins for some microseconds first.
  /// - Throws: `timedOut` naming the holder; `damaged` if the lock itself is beyond repair.
  func lock(timeoutNanoseconds: UInt64) throws(EngineError) -> Outcome {
    #if MUTANT_LOCK_NOTHING
      return .acquired
    #endif
    switch mutex.lock(timeoutNanoseconds: timeoutNanoseconds) {
    case .acquired:
      noteOwner()
      return .acquired
    case .acquiredOwnerDied:
      noteOwner()
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

  /// One attempt, for work that can wait: true if acquired from a living owner's hands.
  func tryLock() -> Outcome? {
    switch mutex.tryLock() {
    case .acquired:
      noteOwner()
      return .acquired
    case .acquiredOwnerDied:
      noteOwner()
      return .ownerDied
    default:
      return nil
    }
  }

  /// The last step of recovery: never before everything W protects is in order.
  func markConsistent() {
    #if !MUTANT_NEVER_CONSISTENT
      try? mutex.markConsistent()
    #endif
  }

  func unlock() {
    ctl.storeRelaxed(ControlLayout.writerIdentity, 0)
    try? mutex.unlock()
  }

  private func noteOwner() {
    let identity =
      UInt64(UInt32(bitPattern: ProcessIdentity.pid)) << 32 | UInt64(UInt32(bitPattern: ProcessIdentity.tid))
    ctl.storeRelaxed(ControlLayout.writerIdentity, identity)
    ctl.storeRelaxed(ControlLayout.writerSince, HostClock.monotonicNanoseconds)
  }

  /// Who holds W, for people: it may have changed hands by the time it is read.
  var holder: Holder? {
    let identity = ctl.loadRelaxed(ControlLayout.writerIdentity)
    if identity == 0 { return nil }
    let since = ctl.loadRelaxed(ControlLayout.writerSince)
    let pid = Int32(truncatingIfNeeded: identity >> 32)
    return Holder(
      pid: pid, tid: Int32(truncatingIfNeeded: identity), command: ProcessIdentity.commandName(of: pid) ?? "?",
      heldNanoseconds: HostClock.monotonicNanoseconds &- since)
  }
}
