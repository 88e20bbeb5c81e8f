import CShims
import SharedMemory

/// The newest durable version, which says how far the table's store has got, and waiting for it.
///
/// Two words of *data*, to which one process stores: the one that keeps the store, which holds the ``KeeperLock``. A waiting thread sleeps on the low
/// half of `durable`, which needs no right to store, so observers wait in the same way. After each store the keeper
/// wakes all who sleep: a system call beside an fdatasync. So nobody announces that it waits, and no commit pays for
/// it.
extension Segment {
  /// How long a waiting thread sleeps at most before it looks by itself: a keeper that dies wakes nobody, and another
  /// may have been started.
  package static let durableSliceNanoseconds: UInt64 = 100_000_000

  /// All versions up to this one are on the disk; 0 if none ever was.
  ///
  /// PAIR durable. Other end: Segment.publishDurable. Acquire: a thread that finds a version durable sees what the
  /// keeper did before it said so.
  public var durable: UInt64 { data.loadAcquire(DataLayout.durable) }

  /// Whether a store follows the table. An unknown state counts as failed: as far as we can tell, nothing is kept.
  public var keeping: DurabilityState { DurabilityState(rawValue: data.loadAcquire(DataLayout.keeping)) ?? .failed }

  /// What moves with ``durable``, and is woken when ``keeping`` changes.
  package var durableEvent: FutexEvent { unsafe FutexEvent(at: data.pointer(DataLayout.durable)) }

  /// Whether all versions up to `version` are on the disk. Never blocks.
  /// - Throws: `notDurable` if they will not be: no store keeps the table, or the store has failed.
  public func isDurable(_ version: UInt64) throws(EngineError) -> Bool {
    if durable >= version { return true }
    switch keeping {
    case .none: throw .notDurable(.noStore)
    case .failed, .broken: throw .notDurable(.failed)
    case .kept: return false
    }
  }

  /// By the keeper of the table's store, once `version` is on the disk. A version that is no progress is ignored.
  public func publishDurable(_ version: UInt64) throws(EngineError) {
    try checkParticipation()
    guard version > durable else { return }
    // PAIR durable. Other end: Segment.durable.
    data.storeRelease(DataLayout.durable, version)
    durableEvent.wakeAll()
  }

  /// By the keeper of the table's store, when it begins, and when it can store no more; by others only where there is none.
  public func setKeeping(_ state: DurabilityState) throws(EngineError) {
    try checkParticipation()
    data.storeRelease(DataLayout.keeping, state.rawValue)
    // A waiting thread learns at once that it waits in vain. It sleeps on `durable`, which has not changed, but when it
    // is woken it looks at both words.
    durableEvent.wakeAll()
  }

  /// Waits until all versions up to `version` are on the disk.
  ///
  /// Blocks the calling thread, at most `timeoutNanoseconds`, and takes no slot.
  /// - Throws: `notDurable` if no store keeps the table, the store has failed, or has not got so far in time; `wouldDeadlock`
  ///   inside a section of this table on this thread; `unlinked`, `forked`.
  public func waitUntilDurable(_ version: UInt64, timeoutNanoseconds: UInt64) throws(EngineError) {
    try checkOfThisProcess()
    if let record = unsafe shm_thread_quick_find(id) { try unsafe record.checkOutsideSections() }
    // In the rcu variant the keeper reads beside whatever this thread is in.
    if participant == nil, variant == .rwlock, try !isDurable(version) { try checkOutsideParticipantsSections() }
    let event = durableEvent
    let start = HostClock.monotonicNanoseconds
    var now = start
    while true {
      // Before the look: the sleep ends at once if the store has got on meanwhile.
      let reached = durable
      if try isDurable(version) { return }
      if now &- start >= timeoutNanoseconds { throw .notDurable(.late(durable: reached)) }
      try checkLinked(now: now)
      _ = event.wait(
        while: UInt32(truncatingIfNeeded: reached),
        timeoutNanoseconds: min(Self.durableSliceNanoseconds, timeoutNanoseconds - (now &- start)))
      now = HostClock.monotonicNanoseconds
    }
  }
}
