import CShims
import SharedMemory

/// Barriers of some keys: they lock them, run beside each other where they share none, and commit like any barrier.
///
/// Two-phase locking (Eswaran et al., "The Notions of Consistency and Predicate Locks in a Database System", 1976): all
/// key locks are taken at once, before anything is read, and released after the commit; and nothing else is read or
/// written. So the outcome is that of the barriers one after the other. W is owned for the locking and for the commit, not
/// between.
///
/// What is locked stays as it is: every writer asks ``KeyLocks`` first. So an entry found here is valid without a pin until
/// the key lock is released, also where the readers' lock of the rwlock variant was held only to find it.
struct KeyedBarriers {
  let segment: Segment

  /// Waits until no section on the host holds a lock on one of the keys, or on one above or below it, and locks them.
  ///
  /// Blocks while a barrier of the whole table runs, or a section or write of a key that meets these. Barriers of such
  /// keys that began to wait earlier go first. Blocks at most `timeoutNanoseconds`. The calling thread must close it
  /// with ``commit()`` or ``abort()``.
  /// - Parameter commitTimeoutNanoseconds: for the commit.
  /// - Throws: `wouldDeadlock` inside any section of this table on this thread, `timedOut` naming the holder, `damaged`,
  ///   `unlinked`, `forked`, `keyLength`, `tooManyKeys`.
  func begin(
    _ keys: [[UInt8]], timeoutNanoseconds: UInt64, commitTimeoutNanoseconds: UInt64
  ) throws(EngineError) {
    _ = try open(keys, timeoutNanoseconds, commitTimeoutNanoseconds) { admission, request throws(EngineError) in
      try admission.admit(request)
      return true
    }
  }

  /// As ``begin(_:timeoutNanoseconds:commitTimeoutNanoseconds:)``, if that needs no waiting.
  /// - Parameter timeoutNanoseconds: for the commit.
  /// - Returns: false with nothing done if it might have to wait.
  func beginAtOnce(_ keys: [[UInt8]], timeoutNanoseconds: UInt64) throws(EngineError) -> Bool {
    try open(keys, 0, timeoutNanoseconds) { admission, request throws(EngineError) in
      try admission.lockKeysAtOnce(request)
    }
  }

  private func open(
    _ keys: [[UInt8]], _ timeoutNanoseconds: UInt64, _ commitTimeoutNanoseconds: UInt64,
    _ admit: (Admission, Admission.Request) throws(EngineError) -> Bool
  ) throws(EngineError) -> Bool {
    try segment.checkWriting()
    let participant = segment.participant!
    for key in keys { try segment.check(keyLength: key.count) }
    let locked = LockedKeys(locking: keys, seed: segment.hashSeed)
    if locked.count > LockedKeys.capacity { throw .tooManyKeys(locked.count, maximum: LockedKeys.capacity) }
    let record = try unsafe segment.threadRecord()
    try unsafe record.checkOutsideSections()
    let start = HostClock.monotonicNanoseconds
    try segment.checkLinked(participant, now: start)
    let request = Admission.Request(
      slot: unsafe Int(record.pointee.slotIndex), reach: .keys(locked), start: start,
      timeoutNanoseconds: timeoutNanoseconds)
    guard try admit(Admission(participant: participant), request) else { return false }
    participant.lock.unlock()
    let buffer = ChangeBuffer(locked: keys, timeoutNanoseconds: commitTimeoutNanoseconds)
    unsafe record.pointee.changes = Unmanaged.passRetained(buffer).toOpaque()
    unsafe record.pointee.inBarrier = BarrierMark.keyed.rawValue
    unsafe record.pointee.now = SectionTime.notYetRead
    return true
  }

  /// Makes the changes visible all at once, as one barrier, and releases the key lock.
  ///
  /// Blocks like ``Barriers/begin(timeoutNanoseconds:now:reach:)``, but for no key lock. Starts over once, after
  /// reclaiming, when the table was full.
  /// - Returns: the version that shows the changes.
  /// - Throws: what ``Barriers/begin(timeoutNanoseconds:now:reach:)`` and ``Barriers/put(_:_:_:)`` throw; nothing was
  ///   changed then, and the key lock is released all the same.
  func commit() throws(EngineError) -> UInt64 {
    guard let (participant, record, buffer) = unsafe end() else { throw .forked }
    defer { participant.keyLocks.release(slot: unsafe Int(record.pointee.slotIndex)) }
    if buffer.isEmpty { return segment.committed }
    do throws(EngineError) {
      return try apply(buffer)
    } catch {
      guard case .full(let shortage) = error, shortage.mayEndByMakingRoom else { throw error }
      return try apply(buffer)
    }
  }

  /// Forgets the changes and releases the key lock. Never blocks.
  func abort() {
    guard let (participant, record, _) = unsafe end() else { return }
    participant.keyLocks.release(slot: unsafe Int(record.pointee.slotIndex))
  }

  /// Ends the thread's barrier, but keeps its key lock. Nil in a child that was forked inside the barrier.
  private func end() -> (Segment.Participant, ThreadRecord, ChangeBuffer)? {
    guard let record = unsafe shm_thread_quick_find(segment.id),
      unsafe record.pointee.inBarrier == BarrierMark.keyed.rawValue
    else { return nil }
    let buffer = unsafe Unmanaged<ChangeBuffer>.fromOpaque(record.pointee.changes!).takeRetainedValue()
    unsafe record.pointee.changes = nil
    unsafe record.pointee.inBarrier = BarrierMark.outside.rawValue
    return unsafe (segment.participant!, record, buffer)
  }

  private func apply(_ buffer: ChangeBuffer) throws(EngineError) -> UInt64 {
    let barrier = segment.barriers
    try barrier.begin(timeoutNanoseconds: buffer.timeoutNanoseconds, reach: .lockedKeys)
    let version = barrier.version
    do throws(EngineError) {
      try buffer.forEach { found throws(EngineError) in
        if found.meta.isTombstone {
          _ = try unsafe barrier.removeEntry(found.key)
        } else {
          try unsafe barrier.put(found.key, found.value, found.attributes)
        }
      }
    } catch {
      barrier.abort()
      throw error
    }
    barrier.commit()
    return version
  }

  // MARK: - Inside

  /// What the barrier of some keys that this thread runs has changed; nil in any other.
  @inline(__always)
  static func buffer(_ record: ThreadRecord) -> ChangeBuffer? {
    if unsafe record.pointee.inBarrier != BarrierMark.keyed.rawValue { return nil }
    return unsafe Unmanaged<ChangeBuffer>.fromOpaque(record.pointee.changes!).takeUnretainedValue()
  }

  /// How many bytes the entries have that the barrier of some keys has changed; 0 in any other.
  var bufferedBytes: Int {
    guard let record = unsafe shm_thread_quick_find(segment.id), let buffer = unsafe Self.buffer(record) else {
      return 0
    }
    return buffer.byteCount
  }

  /// The version that changes of a barrier in flight will have at least.
  private var versionAhead: UInt64 { segment.committed &+ 1 }

  func put(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes,
    in buffer: ChangeBuffer
  ) throws(EngineError) {
    try unsafe buffer.checkCovers(key)
    unsafe buffer.put(key, value, attributes, version: versionAhead)
  }

  func remove(
    _ key: UnsafeRawBufferPointer, in buffer: ChangeBuffer, _ record: ThreadRecord
  ) throws(EngineError) -> Bool {
    try unsafe buffer.checkCovers(key)
    // At instant 0 nothing is expired: a value is removed, expired or not.
    guard try unsafe find(key, in: buffer, record, ExpiryClock { 0 }, now: 0) != nil else { return false }
    unsafe buffer.remove(key, version: versionAhead)
    return true
  }

  func find(
    _ key: UnsafeRawBufferPointer, in buffer: ChangeBuffer, _ record: ThreadRecord, _ clock: ExpiryClock
  ) throws(EngineError) -> FoundEntry? {
    try unsafe find(key, in: buffer, record, clock, now: record.pointee.now)
  }

  private func find(
    _ key: UnsafeRawBufferPointer, in buffer: ChangeBuffer, _ record: ThreadRecord, _ clock: ExpiryClock, now: UInt64
  ) throws(EngineError) -> FoundEntry? {
    try unsafe buffer.checkCovers(key)
    return try unsafe inReadSection(buffer, record, now: now) { section throws(EngineError) in
      if let changed = unsafe buffer.entry(key) { return segment.isPresent(changed) { clock } ? changed : nil }
      return try unsafe segment.find(key, section, clock)
    }
  }

  /// Visits what is locked in the sub-table at the cursor, and with the last one what the barrier itself has changed.
  func scan(
    _ cursor: inout ScanCursor, in buffer: ChangeBuffer, _ record: ThreadRecord, _ clock: ExpiryClock,
    _ body: (FoundEntry) -> Bool
  ) throws(EngineError) {
    var found: [FoundEntry] = []
    try unsafe inReadSection(buffer, record, now: record.pointee.now) { section throws(EngineError) in
      try segment.scan(&cursor, section, clock) { entry in
        if unsafe buffer.covers(entry.key) && buffer.entry(entry.key) == nil { found.append(entry) }
        return true
      }
      if cursor.isAtEnd { buffer.forEach { if segment.isPresent($0, { clock }) { found.append($0) } } }
    }
    // Outside the section: `body` may look at the table, as this barrier.
    for entry in found where !body(entry) { return }
  }

  /// Finds something in a read section that ends at once. What is found stays valid as long as the key lock.
  private func inReadSection<R>(
    _ buffer: ChangeBuffer, _ record: ThreadRecord, now: UInt64, _ body: (ReadSection) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    let instant = unsafe record.pointee.now
    unsafe record.pointee.inBarrier = BarrierMark.outside.rawValue
    defer { unsafe record.pointee.inBarrier = BarrierMark.keyed.rawValue }
    let section = try segment.beginRead(timeoutNanoseconds: buffer.timeoutNanoseconds, now: now)
    defer {
      segment.endRead(section)
      // A section that judges by the barrier's own instant may be the first to ask the clock. Then the barrier keeps what it found. A section that
      // judged by another instant must not leave that behind.
      if now != instant { unsafe record.pointee.now = instant }
    }
    return try body(section)
  }
}
