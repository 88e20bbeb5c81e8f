import CShims

/// What a thread must not begin, or wait for, inside a section of its own, since it would wait for itself. It gets an
/// error at once instead (G11). Only sections of the same table are looked at. Threads that wait for each other over
/// several tables are not found: their callers must keep to an order of tables, and every wait has a timeout.
extension ThreadRecord {
  /// Before whatever waits for a barrier, a commit, the disk or a grace period.
  @inline(__always)
  func checkOutsideSections() throws(EngineError) {
    if unsafe shm_thread_is_outside(self) { return }
    try unsafe checkOutsideBarrier()
    throw .wouldDeadlock(outer: "read section")
  }

  /// Before a read section, which in the rwlock variant waits for the barrier.
  @inline(__always)
  func checkOutsideBarrier() throws(EngineError) {
    if unsafe pointee.inBarrier != 0 { throw .wouldDeadlock(outer: "barrier") }
  }
}

/// For observers. The thread may be in a section through a participant's handle, which has a segment and thread records of
/// its own: the observer's record does not show that section. Each of these takes the registry's lock.
extension Segment {
  /// Before an observer waits for a barrier to end: that barrier may be this thread's. A barrier of keys is not asked for: others commit during it,
  /// and the thread owns W only while it commits.
  func checkOutsideParticipantsBarrier() throws(EngineError) {
    guard !participantsHere.contains(where: \.isOwnedByThisThread) else { throw .wouldDeadlock(outer: "barrier") }
  }

  /// Before an observer waits for a commit, or for the disk. No writer commits during a barrier of this thread, nor, in the rwlock
  /// variant, during one of its read sections; and there the store's keeper waits for such a writer.
  func checkOutsideParticipantsSections() throws(EngineError) {
    try checkOutsideParticipantsBarrier()
    guard variant != .rwlock || !participantsHere.contains(where: { $0.threadSection == .read }) else {
      throw .wouldDeadlock(outer: "read section")
    }
  }

  /// This process's segments over the table that take part in it.
  private var participantsHere: [Segment] { SegmentRegistry.shared.segments.filter { $0.uuid == uuid } }
}
