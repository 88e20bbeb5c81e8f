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

extension Segment {
  /// Before an observer waits for a barrier or a commit: this thread may be in a barrier of the whole table through a participant's handle. That
  /// handle has a segment and thread records of its own, so the observer's record does not show that barrier. A barrier of keys lets others commit meanwhile. Takes the
  /// registry's lock.
  func checkOutsideParticipantsBarrier() throws(EngineError) {
    for participant in SegmentRegistry.shared.segments where participant.uuid == uuid && participant.isInWholeBarrier {
      throw .wouldDeadlock(outer: "barrier")
    }
  }
}
