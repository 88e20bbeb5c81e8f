import CShims
import SharedMemory

/// What a daemon does for a table in its idle moments.
public struct Maintenance {
  let segment: Segment

  public init(_ segment: Segment) { self.segment = segment }

  /// Reclaims if no barrier runs; recovers after a dead writer.
  /// - Parameter passes: the most passes of reclaiming: bounds how long a writer may have to wait for it.
  /// - Returns: whether anything was reclaimed or recovered; nil if the table was busy.
  public func run(passes: Int = .max) throws(EngineError) -> Bool? {
    let participant = try segment.requireParticipant()
    let record = try unsafe segment.threadRecord()
    guard unsafe shm_thread_is_outside(record) else { throw .wouldDeadlock(outer: "section") }
    let slot = unsafe Int(record.pointee.slotIndex)
    guard let outcome = participant.lock.tryLock(slot: slot) else { return nil }
    defer { participant.lock.unlock() }
    let recovery = WriterLockRecovery(participant: participant)
    var changed = false
    if outcome == .ownerDied { recovery.inherit() }
    if outcome == .ownerDied || Recoverer(state: participant.state).isNeeded {
      let exclusive = TableExclusion(participant: participant)
      try exclusive.enter(slot: slot, HostClock.monotonicNanoseconds &+ 1_000_000_000)
      exclusive.leave()
      changed = true
    }
    if segment.variant == .rcu {
      changed = Collector(state: participant.state).collectAll(passes: passes) || changed
      Compactor(state: participant.state).mergeSubTables()
    }
    return changed
  }
}
