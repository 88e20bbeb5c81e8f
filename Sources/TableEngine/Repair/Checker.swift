import CShims
import SharedMemory

/// Does a table keep its invariants ("Invariants" in DESIGN.md)? Looks at every block and changes none.
public struct Checker {
  let segment: Segment

  public init(_ segment: Segment) { self.segment = segment }

  /// Walks the whole table under W, after recovery if the last owner died in it.
  ///
  /// Blocks writers for as long as the walk takes (in the rwlock variant readers too); the work grows with the table.
  /// - Returns: what is wrong, one sentence each, at most ``Problems/maximum``; empty if all is well.
  /// - Throws: `wouldDeadlock` inside any section of this table on this thread, `timedOut`, `damaged` if not even the
  ///   lock is one, `notPermitted` for observers, `forked`.
  public func run(timeoutNanoseconds: UInt64 = 60_000_000_000) throws(EngineError) -> [String] {
    try inspect(timeoutNanoseconds: timeoutNanoseconds) { inspection in inspection.problems }
  }

  /// What a check found, while its thread still owns W.
  struct Inspection {
    let participant: Segment.Participant
    let slot: Int
    /// For each wait of what follows, from that wait's beginning: a walk may have taken longer.
    let timeoutNanoseconds: UInt64
    let problems: [String]
  }

  /// Takes W and checks; what follows runs under W as well, but not inside the rwlock variant's exclusion.
  func inspect<R>(
    timeoutNanoseconds: UInt64, _ body: (Inspection) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    let participant = try segment.requireParticipant()
    let record = try unsafe segment.threadRecord()
    try unsafe record.checkOutsideSections()
    let deadline = HostClock.monotonicNanoseconds &+ timeoutNanoseconds
    let slot = unsafe Int(record.pointee.slotIndex)
    try participant.acquireWriterLock(slot: slot, timeoutNanoseconds: timeoutNanoseconds)
    defer { participant.lock.unlock() }
    let exclusion = TableExclusion(participant: participant)
    let problems: [String]
    do throws(EngineError) {
      try exclusion.enter(slot: slot, deadline)
      problems = TableCheck(segment, participant).run()
      exclusion.leave()
    } catch {
      // Marked for good: no barrier runs, and that is all that a walk needs.
      guard DamageMark(ctl: participant.ctl).isSet else { throw error }
      problems = TableCheck(segment, participant).run(after: "it is marked damaged")
    }
    return try body(
      Inspection(participant: participant, slot: slot, timeoutNanoseconds: timeoutNanoseconds, problems: problems))
  }
}
