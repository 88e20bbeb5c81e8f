public import CShims
import SharedMemory

extension Segment {
  /// Finds a key and runs `body` on its newest committed value.
  ///
  /// Waits for no writer in the RCU variant (G5). `body` must copy what it wants to keep. A read in it joins this one, and a
  /// barrier in it is refused (G11).
  /// - Parameter timeoutNanoseconds: for the rwlock variant's wait for a barrier, and an observer's attempts.
  /// - Returns: nil if the key is absent or expired.
  @inlinable @inline(__always)
  public func withValue<R>(
    _ key: UnsafeRawPointer, _ keyLength: Int, timeoutNanoseconds: UInt64, clock: ExpiryClock,
    _ body: (FoundEntry) -> R
  ) throws(EngineError) -> R? {
    guard readsDirectly, Entry.isKeyLength(keyLength), let record = unsafe shm_thread_quick_find(id),
      unsafe shm_thread_is_outside(record)
    else { return try unsafe withValueIndirectly(key, keyLength, timeoutNanoseconds, clock, body) }
    let slot = unsafe shm_thread_slot(record)
    let hash = unsafe shm_hash(key, keyLength, hashSeed)
    let snapshot = unsafe announce(slot, fenced: fenced)
    unsafe enter(record, snapshot, now: SectionTime.notYetRead)
    let lookup = Lookup(data: data)
    let entry = lookup.visible(from: unsafe lookup.newest(key, keyLength, hash: hash), snapshot: snapshot)
    var result: R?
    if entry != 0 {
      let meta = EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta))
      let found = unsafe FoundEntry(entry: UnsafeRawPointer(data.pointer(entry)), meta: meta)
      if !meta.isTombstone, !meta.hasExpiry || isLive(found, clock) { result = body(found) }
    }
    unsafe leave(record, slot)
    return result
  }

  /// Announces a pending reader, and loads its snapshot.
  ///
  /// PAIR heavy-light. Other end: ReaderScan.take. The announcement must be visible before the second load of
  /// `committed`: by the compiler's order alone where membarrier reaches this process, else by an exchange.
  /// PAIR pend-committed. Other end: CommitPoint.publish. Acquire, twice: the first load gives a reclaiming process its
  /// bound, the second is the snapshot. If the first were the snapshot, versions that it needs could have been
  /// reclaimed before the announcement was visible. The second is sequentially consistent: a mere acquire may pass the
  /// exchange on a processor that has weaker loads for it.
  @inlinable @inline(__always)
  func announce(_ slot: UnsafeMutableRawPointer, fenced: Bool) -> UInt64 {
    let bound = data.loadAcquire(DataLayout.committed)
    if fenced {
      _ = unsafe shm_exchange_seqcst(slot, bound)
    } else {
      unsafe shm_store_release(slot, bound)
      shm_fence_compiler()
    }
    return data.loadSequential(DataLayout.committed)
  }

  @usableFromInline @inline(never)
  func isLive(_ found: FoundEntry, _ clock: ExpiryClock) -> Bool {
    !found.isExpired(at: clock.now)
  }

  /// The same read for a first use, a nested one, the rwlock variant and observers.
  @usableFromInline @inline(never)
  func withValueIndirectly<R>(
    _ key: UnsafeRawPointer, _ keyLength: Int, _ timeoutNanoseconds: UInt64, _ clock: ExpiryClock,
    _ body: (FoundEntry) -> R
  ) throws(EngineError) -> R? {
    var retry = ObserverRetry()
    while true {
      let section = try beginRead(timeoutNanoseconds: timeoutNanoseconds)
      defer { endRead(section) }
      do throws(EngineError) {
        return try unsafe find(UnsafeRawBufferPointer(start: key, count: keyLength), section, clock).map(body)
      } catch {
        guard case .snapshotTooOld = error, section.mayStartOver else { throw error }
        try retry.countAttempt(timeoutNanoseconds: timeoutNanoseconds)
      }
    }
  }
}

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

  /// The value of a key in the section's snapshot; nil if absent or expired.
  /// - Throws: for an observer, `snapshotTooOld` once the snapshot's versions may have been reused, `damaged`; `forked`.
  public func find(
    _ key: UnsafeRawBufferPointer, _ section: ReadSection, _ clock: ExpiryClock
  ) throws(EngineError) -> FoundEntry? {
    if let found = unsafe findInPlace(key, section, { clock }) { return found }
    try checkOfThisProcess()
    try unsafe check(key: key)
    // A participant's look has ended above.
    return try unsafe section.observation!.find(key, hash: hash(key)).flatMap { isPresent($0) { clock } ? $0 : nil }
  }

  /// The same where nothing can go wrong: for a participant, and a key of a length that keys have. Not in a child that was forked in the
  /// section: the parent's announcement ends with the parent's section, and what the child sees would be reused.
  /// - Returns: `.some(nil)` if the key is absent or expired; nil in other cases, which are left to ``find(_:_:_:)``.
  /// - Parameter clock: called only if the value has an expiry: to copy a clock counts a reference.
  @inlinable @inline(__always)
  public func findInPlace(
    _ key: UnsafeRawBufferPointer, _ section: ReadSection, _ clock: () -> ExpiryClock
  ) -> FoundEntry?? {
    guard section.isInPlace, isOfThisProcess, let start = key.baseAddress, Entry.isKeyLength(key.count) else {
      return nil
    }
    let hash = unsafe shm_hash(start, key.count, hashSeed)
    let lookup = Lookup(data: data)
    let entry = lookup.visible(
      from: unsafe lookup.newest(start, key.count, hash: hash), snapshot: section.snapshot)
    return .some(foundEntry(entry, clock))
  }

  /// For participants: the version of a key that `snapshot` sees, in place.
  @usableFromInline
  func find(_ key: UnsafeRawBufferPointer, hash: UInt64, snapshot: UInt64, _ clock: ExpiryClock) -> FoundEntry? {
    let lookup = Lookup(data: data)
    let newest = unsafe lookup.newest(key.baseAddress!, key.count, hash: hash)
    return foundEntry(lookup.visible(from: newest, snapshot: snapshot)) { clock }
  }

  /// An entry, if it is a value that has not expired; nil for 0.
  @inlinable @inline(__always)
  func foundEntry(_ entry: Int, _ clock: () -> ExpiryClock) -> FoundEntry? {
    guard entry != 0 else { return nil }
    let meta = EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta))
    let found = unsafe FoundEntry(entry: UnsafeRawPointer(data.pointer(entry)), meta: meta)
    return isPresent(found, clock) ? found : nil
  }

  /// Was an entry that has been removed, or 0, a value that had not expired?
  @inline(__always)
  func wasPresent(_ entry: Int, _ clock: () -> ExpiryClock) -> Bool { foundEntry(entry, clock) != nil }

  /// The same of an entry that was removed, which is no tombstone. Most values have no expiry.
  @inline(__always)
  func wasPresent(removed entry: Int, _ clock: () -> ExpiryClock) -> Bool {
    guard entry != 0 else { return false }
    return _fastPath(!EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta)).hasExpiry) || wasPresent(entry, clock)
  }

  /// Is it a value, and one that has not expired?
  /// - Parameter clock: called only if the value has an expiry: to copy a clock counts a reference.
  @inlinable @inline(__always)
  func isPresent(_ found: FoundEntry, _ clock: () -> ExpiryClock) -> Bool {
    return !found.meta.isTombstone && !found.isExpired(at: instant(clock()))
  }

  /// What the barrier in flight on this thread sees: its own changes included.
  /// - Parameter clock: called only if the value has an expiry: to copy a clock counts a reference.
  /// - Parameter known: the key's hash, if the caller has it already.
  public func findInBarrier(
    _ key: UnsafeRawBufferPointer, hash known: UInt64? = nil, _ clock: () -> ExpiryClock
  ) throws(EngineError) -> FoundEntry? {
    try unsafe check(key: key)
    let record = try unsafe barriers.record()
    if let buffer = unsafe KeyedBarriers.buffer(record) {
      return try unsafe keyedBarriers.find(key, in: buffer, record, clock())
    }
    // Nobody else changes anything while this thread owns W, so the newest version is the one to see.
    return foundEntry(unsafe Lookup(data: data).newest(key.baseAddress!, key.count, hash: known ?? hash(key)), clock)
  }

  /// A section of an observer that joins another keeps copies of its own, at that one's snapshot and sequence.
  func joinedObservation(_ record: ThreadRecord) -> Observation? {
    guard access == .observer else { return nil }
    return Observation(self, snapshot: unsafe record.pointee.snapshot, sequence: unsafe record.pointee.sequence)
  }
}
