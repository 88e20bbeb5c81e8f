import CShims
import SharedMemory

/// An open read section: one snapshot of the whole table (G1), until ``Segment/endRead(_:)``, which comes exactly once.
///
/// It is plain numbers, and any copy of them may be used until then: to pass a section on counts no reference.
@safe
public struct ReadSection {
  public let snapshot: UInt64
  /// The section joined an outer one of the same thread, which withdraws the announcement.
  @usableFromInline let nested: Bool
  /// Whoever opened the section holds one reference for it; its end gives that back.
  @usableFromInline let held: Unmanaged<Observation>?
  #if DEBUG || CheckedReads
    /// Watches over what the section hands out; nil if nobody asked for it.
    public var check: CheckedReadWatch?
  #endif

  /// A participant's.
  @inlinable @inline(__always)
  init(snapshot: UInt64, nested: Bool) {
    self.snapshot = snapshot
    self.nested = nested
    unsafe held = nil
  }

  /// - Parameter observation: an observer's; nil for a participant.
  init(snapshot: UInt64, nested: Bool, observation: Observation?) {
    self.snapshot = snapshot
    self.nested = nested
    unsafe held = observation.map { unsafe Unmanaged.passRetained($0) }
  }

  /// An observer's copies, and the sequence it must still find.
  var observation: Observation? { unsafe held?.takeUnretainedValue() }

  /// Whether a reader that was overtaken (`snapshotTooOld`) may begin another section: an observer, unless what it has read in an outer section
  /// would then be of another version.
  public var mayStartOver: Bool { observation != nil && !nested }

  /// Whether what is found is looked at where it lies: a participant's section.
  @inlinable @inline(__always)
  var isInPlace: Bool { unsafe held == nil }

  /// The section ends: its observation goes, and with it the copies.
  func letGo() { unsafe held?.release() }
}

extension Segment {
  /// Opens a read section on the calling thread.
  ///
  /// RCU variant: never waits. rwlock variant: waits for the running barrier, at most `timeoutNanoseconds`. A
  /// section inside a section joins it and its snapshot, and never waits.
  /// - Parameter now: the instant by which the section judges expiry; by default that at which it first looks at a
  ///   value that expires.
  /// - Throws: `wouldDeadlock` inside a barrier of the same table, `timedOut`, `forked`, `slotsExhausted`, `busy`.
  public func beginRead(
    timeoutNanoseconds: UInt64, now: UInt64 = SectionTime.notYetRead
  ) throws(EngineError) -> ReadSection {
    let record = try unsafe threadRecord()
    try unsafe record.checkOutsideBarrier()
    if unsafe record.pointee.readDepth != 0 {
      unsafe record.pointee.readDepth += 1
      return unsafe ReadSection(
        snapshot: unsafe record.pointee.snapshot, nested: true, observation: joinedObservation(unsafe record))
    }
    if readsDirectly { return unsafe beginPinned(record, fenced: fenced, now: now) }
    var observation: Observation?
    if let participant {
      try participant.exclusion.enterShared(
        slot: unsafe Int(record.pointee.slotIndex), timeoutNanoseconds: timeoutNanoseconds)
      unsafe record.pointee.snapshot = committed
    } else {
      do throws(EngineError) {
        observation = try Observation(self, timeoutNanoseconds: timeoutNanoseconds)
      } catch {
        shm_thread_remove(id)
        throw error
      }
      unsafe record.pointee.snapshot = observation!.snapshot
      unsafe record.pointee.sequence = observation!.sequence
      shm_thread_observe(1)
    }
    unsafe record.pointee.readDepth = 1
    unsafe record.pointee.now = now
    shm_probe_read_entry(uuid.0, unsafe record.pointee.snapshot)
    return ReadSection(snapshot: unsafe record.pointee.snapshot, nested: false, observation: observation)
  }

  /// Closes a section that ``endRead(_:)`` does not close by itself.
  @usableFromInline @inline(never)
  func endReadGenerally(_ section: ReadSection) {
    section.letGo()
    guard let record = unsafe shm_thread_quick_find(id) else { return }
    unsafe record.pointee.readDepth -= 1
    guard unsafe record.pointee.readDepth == 0 else { return }
    shm_probe_read_exit(uuid.0)
    if readsDirectly {
      unsafe unpin(shm_thread_slot(record))
    } else if let gate {
      gate.leave(slot: unsafe Int(record.pointee.slotIndex))
    } else {
      // The record is removed with the section: each opening gives an observer a new number, and its threads would
      // never find the records of earlier ones again.
      shm_thread_observe(-1)
      shm_thread_remove(id)
    }
  }

  /// A section of an observer that joins another keeps copies of its own, at that one's snapshot and sequence.
  func joinedObservation(_ record: ThreadRecord) -> Observation? {
    guard access == .observer else { return nil }
    return Observation(self, snapshot: unsafe record.pointee.snapshot, sequence: unsafe record.pointee.sequence)
  }
}
