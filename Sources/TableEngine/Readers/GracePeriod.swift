import CShims
import SharedMemory

/// Waiting until the readers that began before have left: a GCD barrier promises that, read-copy-update by itself does
/// not.
///
/// A grace period as of McKenney and Slingwine, "Read-Copy Update" (1998). Sections are told apart by versions: a
/// section announces the version that it began at or an earlier one, so a section that announces none below V began
/// after V was committed.
extension Segment {
  /// Waits until no section of a participant, on the whole host, is left that began before `version` was committed.
  ///
  /// RCU variant: looks at every slot once and then, pausing, at those that are in the way. A killed reader is not
  /// waited for; a long snapshot is no section, only its use is. What began later may be waited for too, if it
  /// announced itself earlier. rwlock variant: a committed barrier had them all out, so this returns at once.
  /// Observers announce nothing and are not waited for.
  /// - Throws: `timedOut` naming a reader; `unsupported` where membarrier is denied to this process and others rely
  ///   on it.
  public func waitForReaders(before version: UInt64, timeoutNanoseconds: UInt64) throws(EngineError) {
    let participant = try requireParticipant()
    guard variant == .rcu else { return }
    let slots = participant.slots
    // `version` was committed before this call, so a section that begins from here on begins at it or later. The pairs light-flag and heavy-light are those of ReaderScan.take. A reader that
    // the look below misses loads `committed` after it, and so begins at `version` or later.
    shm_fence_seqcst()
    if participant.ctl.loadAcquire(ControlLayout.lightReaders) != 0, !Membarrier.heavy(), slots.lightReader() != nil {
      throw .unsupported(
        "waiting, in a process that is denied membarrier, for readers that rely on it",
        instead: "allow this process membarrier(2), which its sandbox forbids, or wait in a process that has it")
    }
    let deadline = HostClock.monotonicNanoseconds &+ timeoutNanoseconds
    for slot in 0..<slots.highWater {
      var pause: UInt64 = 20_000
      while slots.isInside(slot, before: version), !slots.clearIfDead(slot) {
        let now = HostClock.monotonicNanoseconds
        guard now < deadline else { throw .timedOut(slots.holder(slot)) }
        shmos_sleep(min(pause, deadline - now))
        pause = min(pause * 2, 5_000_000)
      }
    }
  }

  /// Who runs a barrier just now, for people.
  public var barrierHolder: Holder? { participant?.lock.holder }

  /// A thread of this process that is inside a read section, for people.
  public var readerOfThisProcess: Holder? {
    guard let slots = participant?.slots else { return nil }
    return (0..<slots.highWater).lazy.filter { slots.isInside($0) }.map { slots.holder($0) }
      .first { $0.pid == ProcessIdentity.pid }
  }
}

extension Slots {
  /// Is the slot's thread inside a section, or a single read, of either variant?
  fileprivate func isInside(_ index: Int) -> Bool {
    isInside(index, before: .max) || ctl.loadAcquire(offset(index) + SlotLayout.rw) != RWWord.idle
  }

  /// Is the slot's thread inside a section, or a single read, that began before `version` was committed?
  ///
  /// PAIR slot-scan. Other end: Segment.unpin. Acquire: all that a reader loaded comes before we find it gone. An exact
  /// version without a pin is a long snapshot, or a section on its way out that reads nothing more.
  fileprivate func isInside(_ index: Int, before version: UInt64) -> Bool {
    let slot = offset(index)
    let snapshot = ctl.loadAcquire(slot + SlotLayout.snapshot)
    let pin = ctl.loadAcquire(slot + SlotLayout.pin)
    if pin != SlotWord.idle, pin < version { return true }
    return SlotWord.isPending(snapshot) && snapshot < version
  }
}
