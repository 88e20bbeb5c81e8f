import CShims
import SharedMemory

/// A snapshot that outlives sections and threads: one version of the whole table, for as long as it is held.
///
/// While it is held, memory of what is superseded is not reused, up to the limbo budget. Past the budget the table's
/// policy ends the snapshot (`snapshotTooOld`), or writes wait or fail (G7). RCU variant only.
public final class LongSnapshot: Sendable {
  public let segment: Segment
  public let version: UInt64
  private let slot: KeptSlot

  /// - Throws: `unsupported` for the rwlock variant and for observers, `slotsExhausted`.
  public init(_ segment: Segment) throws(EngineError) {
    guard segment.variant == .rcu else {
      throw .unsupported(
        "a long snapshot of a table of the rwlock variant",
        instead: "read in one read section, or make the table as rcu")
    }
    if segment.access == .observer, segment.isOfThisProcess {
      throw .unsupported(
        "a long snapshot by a handle that observes",
        instead: "read in one read section, or open the table to take part")
    }
    let participant = try segment.requireParticipant()
    self.segment = segment
    slot = try SlotKeeper.claim(participant.attachment, purpose: SlotPurpose.snapshot)
    let words = unsafe participant.ctl.pointer(participant.slots.offset(slot.index))
    version = unsafe segment.pinSnapshot(words, fenced: segment.fenced)
    // From here on the exact snapshot keeps its versions, and the pin is not needed: no reader at this snapshot can
    // come to what was unlinked before. By an exchange: the slot's words are visible before another thread may use the
    // snapshot, and checks whether they still stand.
    _ = unsafe shm_exchange_seqcst(words + SlotLayout.pin, SlotWord.idle)
  }

  deinit {
    guard let participant = segment.participant, segment.isOfThisProcess else { return }
    participant.slots.reset(slot.index)
    slot.release()
  }

  /// Opens a section of this thread at the snapshot's version. Close it with ``Segment/endRead(_:)``, and hold the
  /// snapshot until then: a scan that looked at our slot before the section began, and at the keeper's slot after it
  /// was given back, would see neither announcement.
  ///
  /// PAIR evict-snapshot. Other end: Evictor.evictSnapshots. Our own slot announces the version, with a pin, before
  /// we look whether the keeper's slot still stands: either the evictor's scan sees our pin, or we see its mark.
  /// - Throws: `snapshotTooOld` once evicted; `wouldDeadlock` inside a section of the same table.
  public func beginRead() throws(EngineError) -> ReadSection {
    let participant = try segment.requireParticipant()
    let record = try unsafe segment.threadRecord()
    try unsafe record.checkOutsideBarrier()
    if unsafe record.pointee.readDepth != 0 {
      guard unsafe record.pointee.snapshot == version else { throw .wouldDeadlock(outer: "read section") }
      unsafe record.pointee.readDepth += 1
      return ReadSection(snapshot: version, nested: true)
    }
    let slot = unsafe record.pointee.slot!
    unsafe shm_store_release(slot + SlotLayout.pin, segment.committed)
    _ = unsafe shm_exchange_seqcst(slot, SlotWord.exact | version)
    let kept = participant.ctl.loadSequential(participant.slots.offset(self.slot.index) + SlotLayout.snapshot)
    let stands = kept == SlotWord.exact | version
    guard stands else {
      unsafe segment.unpin(slot)
      throw .snapshotTooOld
    }
    unsafe segment.enter(record, version, now: SectionTime.notYetRead)
    return ReadSection(snapshot: version, nested: false)
  }
}
