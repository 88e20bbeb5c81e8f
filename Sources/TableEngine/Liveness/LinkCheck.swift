import SharedMemory

/// Noticing that the table was dropped, or its names removed by other means. A dropper marks the control object
/// (``Segment/drop(_:trusted:)``), which participants read at once; an outside `rm` shows only in the objects' link counts,
/// which cost a system call and are asked for ten times a second at most.
extension Segment {
  private static var intervalNanoseconds: UInt64 { 100_000_000 }

  /// Before a barrier.
  /// - Throws: `unlinked` at once after a drop, and within the interval after an outside removal.
  @inline(__always)
  func checkLinked(_ participant: Participant, now: UInt64) throws(EngineError) {
    if participant.ctl.loadAcquire(ControlLayout.dropped) != 0 { throw .unlinked }
    try countLinksWhenDue(now: now)
  }

  /// As ``checkLinked(_:now:)``, for a thread that waits, an observer's too: an observer has only the data object, whose name a dropping process
  /// removes first.
  package func checkLinked(now: UInt64) throws(EngineError) {
    if let participant { return try checkLinked(participant, now: now) }
    try countLinksWhenDue(now: now)
  }

  @inline(__always)
  private func countLinksWhenDue(now: UInt64) throws(EngineError) {
    // Relaxed: two threads that look at the same time look twice.
    if now &- lastLinkCheck.load(ordering: .relaxed) < Self.intervalNanoseconds { return }
    try countLinks(now: now)
  }

  @inline(never)
  private func countLinks(now: UInt64) throws(EngineError) {
    lastLinkCheck.store(now, ordering: .relaxed)
    if isPrivate { return }
    do throws(SystemError) {
      if try dataObject.status().links > 0, try participant?.object.status().links != 0 { return }
    } catch {
      throw .system(error)
    }
    lastLinkCheck.store(0, ordering: .relaxed)
    throw .unlinked
  }
}
