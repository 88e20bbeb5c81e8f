import CShims

/// A read section as other threads of its process may join it, for as long as it stands.
///
/// They announce nothing and take no lock of the table: the section that they joined does that for them. In the RCU
/// variant its slot's pin and snapshot keep all that they look at. In the rwlock variant it keeps barriers out; if a
/// joining thread took the lock itself, it could wait for ever, behind a writer that waits for the joined section. An
/// observer's section protects nothing, and shares only a version (or `wseq`) by which every thread validates its own
/// copies.
package struct SharedSection: Sendable {
  let snapshot: UInt64
  /// An observer's: what `wseq` must still be.
  let sequence: UInt64
  /// The instant by which all judge expiry.
  fileprivate let now: UInt64
}

extension Segment {
  /// The section that the calling thread is in, for other threads to join.
  ///
  /// Before the thread that shares it ends the section, it must let no other thread join any more, and wait until all
  /// have left. Starting and joining threads does that, and it orders memory: a joiner's first look comes after the
  /// announcement, its last before the withdrawal.
  package func share(_ section: ReadSection, _ clock: ExpiryClock) -> SharedSection {
    SharedSection(
      snapshot: section.snapshot, sequence: section.observation?.sequence ?? 0, now: instant(clock))
  }

  /// Lets the calling thread read in a section of another thread. Ends with ``leaveShared(_:)``; waits for nobody.
  ///
  /// To this table the thread is in a read section from now on: reads join it, and a barrier would deadlock, since it
  /// would wait for the section that was joined.
  /// - Throws: `slotsExhausted`, `forked`; `wouldDeadlock` if the thread is in a section already.
  package func join(_ shared: SharedSection) throws(EngineError) -> ReadSection {
    let record = try unsafe threadRecord()
    try unsafe record.checkOutsideSections()
    unsafe record.pointee.readDepth = 1
    unsafe record.pointee.snapshot = shared.snapshot
    unsafe record.pointee.sequence = shared.sequence
    unsafe record.pointee.now = shared.now
    if access == .observer { shm_thread_observe(1) }
    return unsafe ReadSection(snapshot: shared.snapshot, nested: true, observation: joinedObservation(record))
  }

  /// On the thread that joined. Unlike ``endRead(_:)`` it withdraws nothing: nothing was announced.
  package func leaveShared(_ section: ReadSection) {
    section.letGo()
    guard let record = unsafe shm_thread_find(id) else { return }
    unsafe record.pointee.readDepth -= 1
    if access == .observer {
      shm_thread_observe(-1)
      shm_thread_remove(id)
    }
  }
}
