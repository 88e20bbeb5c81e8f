public import CShims

/// A participant's section in the RCU variant, opened and closed within its caller: the straight path, with no call
/// into the runtime. Everything else takes the general path, ``Segment/beginRead(timeoutNanoseconds:now:)``.
///
/// Why the straight path may leave out what the general one checks:
/// - *Is this a forked child?* A child's thread has no record to be found: fork empties all records
///   (`after_fork_in_child`), and only the general path makes one, after it has compared the fork generation.
/// - *Is the thread in a barrier or a section?* One look at the record's two counters tells. All handles of the process
///   share the segment, and so the record.
/// - *What may throw*: the making of a record, the wait of the rwlock variant, and an observer's attempts. None of them
///   happens here.
/// - *Other processes* see no difference: both paths announce by ``Segment/beginPinned(_:fenced:now:)``.
extension Segment {
  /// Opens a section on the calling thread, if it is in none, and its record is where it is sought first.
  /// - Returns: nil, and nothing was done, where the general path must decide.
  @inlinable @inline(__always)
  public func beginReadQuickly() -> ReadSection? {
    guard readsLightly, let record = unsafe quickRecord() else { return nil }
    return unsafe beginPinned(record, fenced: false, now: SectionTime.notYetRead)
  }

  /// The outermost section of a thread that is a participant of the RCU variant.
  @inlinable @inline(__always)
  func beginPinned(_ record: UnsafeMutablePointer<shm_thread_record>, fenced: Bool, now: UInt64) -> ReadSection {
    let snapshot = unsafe pinSnapshot(shm_thread_slot(record), fenced: fenced)
    unsafe enter(record, snapshot, now: now)
    shm_probe_read_entry(uuid.0, snapshot)
    return ReadSection(snapshot: snapshot, nested: false)
  }

  /// Announces a pin and an exact snapshot: what the section can reach is neither freed nor unlinked.
  ///
  /// The pin comes first: it keeps the memory to the section's end, whatever becomes of the snapshot's word. The exact
  /// snapshot is fixed by a plain store: only exact words are evicted, so nobody but its thread changes one that is
  /// pending (`Models/eviction.pml`). No look in the section checks whether the exact word was evicted meanwhile:
  /// beside a pin an evicted word keeps its versions as an exact one does (`ReaderScan`). Only a long snapshot must
  /// check, since it has no pin between two reads: `LongSnapshot.beginRead`.
  @inlinable @inline(__always)
  func pinSnapshot(_ slot: UnsafeMutableRawPointer, fenced: Bool) -> UInt64 {
    unsafe shm_store_release(slot + SlotLayout.pin, data.loadAcquire(DataLayout.committed))
    let snapshot = unsafe announce(slot, fenced: fenced)
    unsafe shm_store_release(slot, SlotWord.exact | snapshot)
    return snapshot
  }

  /// Closes a section; on the thread that opened it, once.
  ///
  /// Straight if it is the thread's outermost. A child that was forked in the section finds no record of it, and stores
  /// nothing into what was its parent's slot.
  @inlinable @inline(__always)
  public func endRead(_ section: ReadSection) {
    let record = unsafe shm_thread_home(id)
    guard readsDirectly, unsafe record.pointee.segment == id, unsafe record.pointee.readDepth == 1 else {
      return endReadGenerally(section)
    }
    unsafe record.pointee.readDepth = 0
    shm_probe_read_exit(uuid.0)
    unsafe unpin(shm_thread_slot(record))
  }

  /// Withdraws what ``pinSnapshot(_:fenced:)`` announced.
  ///
  /// PAIR slot-scan. Other end: ReaderScan.take. Release: our last look comes before.
  @inlinable @inline(__always)
  func unpin(_ slot: UnsafeMutableRawPointer) {
    unsafe shm_store_release(slot, SlotWord.idle)
    unsafe shm_store_release(slot + SlotLayout.pin, SlotWord.idle)
  }
}
