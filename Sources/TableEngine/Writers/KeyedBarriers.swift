import CShims
import SharedMemory

/// Barriers of some keys: they claim them, run beside each other where they share none, and commit like any barrier.
///
/// Two-phase locking (Eswaran et al., "The Notions of Consistency and Predicate Locks in a Database System", 1976): all
/// claims are made at once, before anything is read, and given back after the commit; and nothing else is read or written. So
/// the outcome is that of the barriers one after the other. W is held for the claim and for the commit, not between.
///
/// What is claimed stays as it is: everybody who writes asks ``Claims`` first. So an entry found here is valid without a
/// pin until the claim ends, also where the readers' lock of the rwlock variant was held only to find it.
extension Segment {
  /// `inBarrier` of a thread's record.
  private static let keyed: UInt32 = 2

  /// Waits until nobody on the host holds one of the keys, or one above or below it, and claims them.
  ///
  /// Blocks while a barrier of the whole table runs, or one of a key that meets these, and for those of them that waited
  /// before; at most `timeoutNanoseconds`. The calling thread must close it with ``commitKeyedBarrier()`` or
  /// ``abortKeyedBarrier()``.
  /// - Throws: `wouldDeadlock` inside any section of this table on this thread, `timedOut` naming the holder, `damaged`,
  ///   `unlinked`, `forked`, `keyLength`, `tooManyKeys`.
  public func beginKeyedBarrier(_ keys: [[UInt8]], timeoutNanoseconds: UInt64) throws(EngineError) {
    let participant = try requireParticipant()
    for key in keys { try check(keyLength: key.count) }
    let claim = ClaimSet(claiming: keys, seed: hashSeed)
    if claim.count > ClaimSet.capacity { throw .tooManyKeys(claim.count, maximum: ClaimSet.capacity) }
    let record = try unsafe threadRecord()
    try unsafe checkOutsideSections(record)
    let start = HostClock.monotonicNanoseconds
    try checkLinked(participant, now: start)
    try takeTurn(participant, slot: unsafe Int(record.pointee.slotIndex), .keys(claim), start, timeoutNanoseconds)
    participant.lock.unlock()
    let buffer = ChangeBuffer(claimed: keys, timeoutNanoseconds: timeoutNanoseconds)
    unsafe record.pointee.changes = Unmanaged.passRetained(buffer).toOpaque()
    unsafe record.pointee.inBarrier = Self.keyed
    unsafe record.pointee.now = SectionTime.notYetRead
  }

  /// Makes the changes visible all at once, as one barrier, and gives the claim back.
  ///
  /// Blocks like ``beginBarrier(timeoutNanoseconds:now:)``, but for nobody's claim. Starts over once, after gc, when the
  /// table was full.
  /// - Returns: the version that shows the changes.
  /// - Throws: what ``beginBarrier(timeoutNanoseconds:now:)`` and ``put(_:_:_:)`` throw; nothing was changed then, and
  ///   the claim is given back all the same.
  public func commitKeyedBarrier() throws(EngineError) -> UInt64 {
    guard let (participant, record, buffer) = unsafe endKeyedBarrier() else { throw .forked }
    defer { participant.claims.withdraw(slot: unsafe Int(record.pointee.slotIndex)) }
    if buffer.isEmpty { return committed }
    do throws(EngineError) {
      return try apply(buffer)
    } catch {
      guard case .full(let shortage) = error, shortage == .capacity || shortage == .barrier else { throw error }
      return try apply(buffer)
    }
  }

  /// Forgets the changes and gives the claim back. Never blocks.
  public func abortKeyedBarrier() {
    guard let (participant, record, _) = unsafe endKeyedBarrier() else { return }
    participant.claims.withdraw(slot: unsafe Int(record.pointee.slotIndex))
  }

  /// The thread is in no barrier any more, but holds its claim. Nil in a child forked inside.
  private func endKeyedBarrier() -> (Participant, ThreadRecord, ChangeBuffer)? {
    guard let record = unsafe shm_thread_quick_find(id), unsafe record.pointee.inBarrier == Self.keyed else {
      return nil
    }
    let buffer = unsafe Unmanaged<ChangeBuffer>.fromOpaque(record.pointee.changes!).takeRetainedValue()
    unsafe record.pointee.changes = nil
    unsafe record.pointee.inBarrier = 0
    return unsafe (participant!, record, buffer)
  }

  private func apply(_ buffer: ChangeBuffer) throws(EngineError) -> UInt64 {
    try beginBarrier(timeoutNanoseconds: buffer.timeoutNanoseconds, reach: .claimed)
    let version = versionInBarrier
    do throws(EngineError) {
      try buffer.forEach { found throws(EngineError) in
        if found.meta.isTombstone {
          _ = try unsafe remove(found.key)
        } else {
          try unsafe put(found.key, found.value, found.attributes)
        }
      }
    } catch {
      abortBarrier()
      throw error
    }
    commitBarrier()
    return version
  }

  // MARK: - Inside

  /// What the keyed barrier that this thread runs has changed; nil in any other.
  @inline(__always)
  func changes(_ record: ThreadRecord) -> ChangeBuffer? {
    if unsafe record.pointee.inBarrier != Self.keyed { return nil }
    return unsafe Unmanaged<ChangeBuffer>.fromOpaque(record.pointee.changes!).takeUnretainedValue()
  }

  /// The version that changes of a barrier in flight will have at least.
  private var versionAhead: UInt64 { committed &+ 1 }

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
    // At instant 0 nothing is expired: what is there, is removed.
    guard try unsafe find(key, in: buffer, record, WallClock { 0 }, now: 0) != nil else { return false }
    unsafe buffer.remove(key, version: versionAhead)
    return true
  }

  func find(
    _ key: UnsafeRawBufferPointer, in buffer: ChangeBuffer, _ record: ThreadRecord, _ clock: WallClock
  ) throws(EngineError) -> FoundEntry? {
    try unsafe find(key, in: buffer, record, clock, now: record.pointee.now)
  }

  private func find(
    _ key: UnsafeRawBufferPointer, in buffer: ChangeBuffer, _ record: ThreadRecord, _ clock: WallClock, now: UInt64
  ) throws(EngineError) -> FoundEntry? {
    try unsafe buffer.checkCovers(key)
    return try unsafe inReadSection(buffer, record, now: now) { section throws(EngineError) in
      if let changed = unsafe buffer.entry(key) { return isPresent(changed, clock) ? changed : nil }
      return try unsafe find(key, section, clock)
    }
  }

  /// Visits what is claimed in the sub-table at the cursor, and with the last one what the barrier itself has changed.
  func scan(
    _ cursor: inout ScanCursor, in buffer: ChangeBuffer, _ record: ThreadRecord, _ clock: WallClock,
    _ body: (FoundEntry) -> Bool
  ) throws(EngineError) {
    var found: [FoundEntry] = []
    try unsafe inReadSection(buffer, record, now: record.pointee.now) { section throws(EngineError) in
      try scan(&cursor, section, clock) { entry in
        if unsafe buffer.covers(entry.key) && buffer.entry(entry.key) == nil { found.append(entry) }
        return true
      }
      if cursor.isAtEnd { buffer.forEach { if isPresent($0, clock) { found.append($0) } } }
    }
    // Outside the section: `body` may look at the table, as this barrier.
    for entry in found where !body(entry) { return }
  }

  /// Finds something in a section as short as that; what it finds stays valid as long as the claim.
  private func inReadSection<R>(
    _ buffer: ChangeBuffer, _ record: ThreadRecord, now: UInt64, _ body: (ReadSection) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    let instant = unsafe record.pointee.now
    unsafe record.pointee.inBarrier = 0
    defer { unsafe record.pointee.inBarrier = Self.keyed }
    let section = try beginRead(timeoutNanoseconds: buffer.timeoutNanoseconds, now: now)
    defer {
      endRead(section)
      // Whichever section first asked the clock, asked it for the whole barrier.
      if now != instant { unsafe record.pointee.now = instant }
    }
    return try body(section)
  }
}

extension FoundEntry {
  /// As they were given to ``Segment/put(_:_:_:)``; the alignment as far as it shows.
  fileprivate var attributes: ValueAttributes {
    ValueAttributes(type: meta.type, expiry: expiry, fingerprint: fingerprint, alignmentShift: meta.alignmentShift)
  }
}
