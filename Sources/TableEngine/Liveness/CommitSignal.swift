import CShims
import SharedMemory

/// Wakes the threads that wait for the next version.
///
/// A waiting thread sleeps on the low half of `committed` itself: a futex needs no right to store, so observers wait on
/// it too. A commit must not make a system call if nobody waits. So a participant first says in
/// ``ControlLayout/awaitedVersion`` which version it waits for, and a committer that finds a number there wakes
/// everybody.
///
/// ```
/// waiter (W not held)                               committer (has just given W back)
/// c = committed; c > version: done                  committed = V           (while it held W)
/// awaited = max(awaited, c + 1)                     fence
/// fence                                             a = awaited; 0: done
/// committed > c: begin anew                         a <= committed: compare-and-swap a to 0
/// sleep while committed == c, at most a slice       wake all
/// ```
/// Since this is a number and not a mere flag, a committer can clear it safely. If it finds c + 1 while c is the newest
/// version, it leaves the number: the thread that stored it may not sleep yet and would miss this wake-up, so the next
/// committer must find it. For the same reason nobody lowers the number: a thread that waits for an older version is
/// woken with the others. The number is cleared before the wake-up and not after it, or a thread that falls asleep
/// between the two would be forgotten.
///
/// It is a hint: a process that dies between its commit and the wake-up costs the sleepers a slice and no more. The
/// protocol is `Models/wait.pml`.
struct CommitSignal {
  let ctl: MappedMemory
  let data: MappedMemory

  /// The low half of `committed`; both supported machines are little-endian.
  static func event(_ data: MappedMemory) -> FutexEvent { unsafe FutexEvent(at: data.pointer(DataLayout.committed)) }

  /// By a participant that is about to sleep while `committed` is `version`.
  func announce(after version: UInt64) {
    while true {
      let awaited = ctl.loadRelaxed(ControlLayout.awaitedVersion)
      if awaited > version { break }
      if ctl.compareAndSwap(ControlLayout.awaitedVersion, expected: awaited, desired: version &+ 1) { break }
    }
    // PAIR commit-wait. Other end: CommitSignal.post. The number must be visible before `committed` is looked at again.
    // Else the committer could find no number while we find the old version, and we would sleep through a commit.
    shm_fence_seqcst()
  }

  /// By whoever has just given W back: costs a load of a line that hardly anybody stores to.
  func post() {
    // PAIR commit-wait. Other end: CommitSignal.announce. A full fence between the store of `committed` and this load: the
    // exchange by which the writer lock was unlocked serves where it is one.
    shm_fence_after_rmw()
    let awaited = ctl.loadRelaxed(ControlLayout.awaitedVersion)
    if awaited != 0 { wake(awaited) }
  }

  @inline(never)
  private func wake(_ awaited: UInt64) {
    // Relaxed: an older value only leaves the number for the next committer.
    if awaited <= data.loadRelaxed(DataLayout.committed) {
      _ = ctl.compareAndSwap(ControlLayout.awaitedVersion, expected: awaited, desired: 0)
    }
    CommitSignal.event(data).wakeAll()
  }
}

extension Segment {
  /// How long a waiter sleeps at most before it looks by itself: what a committer costs that dies before its wake-up.
  private static let sliceNanoseconds: UInt64 = 100_000_000
  /// How long an observer that waits sleeps at most before it looks by itself. No committer knows of observers: they are woken only along with a
  /// participant.
  private static let observerSliceNanoseconds: UInt64 = 10_000_000

  /// Waits until a version above `version` is committed; misses none, whenever it came.
  ///
  /// Blocks the calling thread, at most `timeoutNanoseconds`, and takes no slot. Aborted barriers and reclaiming commit
  /// versions too, so a new one need not have changed anything.
  /// - Returns: true if there is such a version, false after the timeout.
  /// - Throws: `wouldDeadlock` inside a section of this table on this thread; `unlinked`, at the latest a tenth of a second
  ///   after the table was dropped; `forked`.
  public func waitForCommit(after version: UInt64, timeoutNanoseconds: UInt64) throws(EngineError) -> Bool {
    try waitForCommit(
      after: version, timeoutNanoseconds: timeoutNanoseconds,
      sliceNanoseconds: participant == nil ? Self.observerSliceNanoseconds : Self.sliceNanoseconds)
  }

  /// As ``waitForCommit(after:timeoutNanoseconds:)``, with slices of any length, for tests: with a slice that never ends, a lost wake-up shows.
  package func waitForCommit(
    after version: UInt64, timeoutNanoseconds: UInt64, sliceNanoseconds slice: UInt64
  ) throws(EngineError) -> Bool {
    try checkOfThisProcess()
    if let record = unsafe shm_thread_quick_find(id) { try unsafe record.checkOutsideSections() }
    if participant == nil, committed <= version { try checkOutsideParticipantsSections() }
    let event = CommitSignal.event(data)
    let start = HostClock.monotonicNanoseconds
    var now = start
    while true {
      let newest = committed
      if newest > version { return true }
      if now &- start >= timeoutNanoseconds { return false }
      try checkLinked(now: now)
      if let participant { CommitSignal(ctl: participant.ctl, data: data).announce(after: newest) }
      if committed == newest {
        _ = event.wait(
          while: UInt32(truncatingIfNeeded: newest),
          timeoutNanoseconds: min(slice, timeoutNanoseconds - (now &- start)))
      }
      now = HostClock.monotonicNanoseconds
    }
  }

  /// What moves with every commit, for whoever waits for several tables at once: announce what was seen, look at
  /// ``committed`` again, sleep while this has the low half of what was seen, and no longer than a slice.
  package var commitEvent: FutexEvent { CommitSignal.event(data) }

  /// Asks the next committer for a wake-up; only a participant can.
  package func announceWait(after version: UInt64) {
    if let participant { CommitSignal(ctl: participant.ctl, data: data).announce(after: version) }
  }
}
