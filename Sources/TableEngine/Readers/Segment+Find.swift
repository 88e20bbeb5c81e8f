import CShims
import SharedMemory

/// What a section or a barrier finds under a key.
extension Segment {
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

  /// As ``find(_:_:_:)``, where nothing can go wrong: for a participant, and a key of a length that keys have. Not in a child that was forked in
  /// the section: the parent's announcement ends with the parent's section, and what the child sees would be reused.
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
    let entry = unsafe Lookup(data: data).visible(start, key.count, hash: hash, snapshot: section.snapshot)
    return .some(foundEntry(entry, clock))
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

  /// As ``wasPresent(_:_:)``, for an entry that is no tombstone, or 0. Most values have no expiry.
  @inline(__always)
  func wasPresent(removed entry: Int, _ clock: () -> ExpiryClock) -> Bool {
    guard entry != 0 else { return false }
    return _fastPath(!EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta)).hasExpiry) || wasPresent(entry, clock)
  }

  /// Is it a value, and one that has not expired?
  /// - Parameter clock: called only if the value has an expiry: to copy a clock counts a reference.
  @inlinable @inline(__always)
  func isPresent(_ found: FoundEntry, _ clock: () -> ExpiryClock) -> Bool {
    !found.meta.isTombstone && !found.isExpired(at: instant(clock()))
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
}
