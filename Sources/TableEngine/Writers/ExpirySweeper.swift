import CShims

/// Removing expired keys. They are found in a read section, outside the barrier, and judged again inside it by the same
/// instant: a key that was renewed meanwhile stays, and so does, until later, one that a section has locked.
public struct ExpirySweeper {
  let segment: Segment

  public init(_ segment: Segment) { self.segment = segment }

  /// Looks at some sub-tables from the cursor on and removes the expired keys it finds, in one barrier. Called
  /// regularly, as a daemon does, no step grows with the table.
  ///
  /// The read section that finds them, and the barrier, are as short as `subTables` and `limit` make them. A
  /// sub-table with more than `limit` expired keys is visited again by the next step.
  /// - Parameter cursor: where to go on; ``ScanCursor/isAtEnd`` after a whole round.
  /// - Parameter subTables: the most sub-tables to look at, of about a thousand keys each.
  /// - Parameter limit: the most keys to remove.
  /// - Returns: how many were removed. In a full table these may be fewer than there are; the cursor stays then.
  /// - Throws: `full` if there is not even room to remove one.
  public func step(
    _ cursor: inout ScanCursor, subTables: Int, limit: Int, timeoutNanoseconds: UInt64, now: UInt64
  ) throws(EngineError) -> Int {
    var next = cursor
    let keys = try expiredKeys(&next, subTables, limit, timeoutNanoseconds, now)
    if keys.isEmpty {
      cursor = next
      return 0
    }
    try segment.barriers.begin(timeoutNanoseconds: timeoutNanoseconds, now: now, reach: .unlockedKeys)
    var removed = 0
    do throws(EngineError) {
      for key in keys where try removeIfExpired(key, now: now) { removed += 1 }
      cursor = next
    } catch {
      // A full table has room for some tombstones only. What was removed so far stands; the next step begins where this one
      // did, with the room that this one gives back.
      guard case .full = error, removed > 0 else {
        segment.barriers.abort()
        throw error
      }
    }
    segment.barriers.commit()
    return removed
  }

  private func expiredKeys(
    _ cursor: inout ScanCursor, _ subTables: Int, _ limit: Int, _ timeoutNanoseconds: UInt64, _ now: UInt64
  ) throws(EngineError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    // At instant 0 nothing is expired yet, so the section shows what we look for.
    let section = try segment.beginRead(timeoutNanoseconds: timeoutNanoseconds, now: 0)
    defer { segment.endRead(section) }
    var left = subTables
    while left > 0, !cursor.isAtEnd, keys.count < limit {
      left -= 1
      let before = cursor
      try segment.scan(&cursor, section, ExpiryClock { 0 }) { found in
        if found.isExpired(at: now), unsafe !seemsLocked(found.key) { keys.append(unsafe [UInt8](found.key)) }
        return keys.count < limit
      }
      if keys.count >= limit { cursor = before }
    }
    return keys
  }

  /// What the barrier in flight sees of a key, expired or not.
  private func newestInBarrier(_ key: UnsafeRawBufferPointer) -> FoundEntry? {
    let entry = unsafe Lookup(data: segment.data).newest(key.baseAddress!, key.count, hash: segment.hash(key))
    guard entry != 0 else { return nil }
    let meta = EntryMeta(raw: segment.data.loadRelaxed(entry + Entry.meta))
    return meta.isTombstone ? nil : unsafe FoundEntry(entry: UnsafeRawPointer(segment.data.pointer(entry)), meta: meta)
  }

  /// Whether a barrier of some keys that runs meanwhile has locked the key: it may have found the value before that
  /// expired.
  private func isLocked(_ key: UnsafeRawBufferPointer) -> Bool {
    guard let record = unsafe shm_thread_quick_find(segment.id), let participant = segment.participant else {
      return false
    }
    return unsafe participant.keyLocks.isLocked(key, seed: segment.hashSeed, except: Int(record.pointee.slotIndex))
  }

  /// As ``isLocked(_:)``, as far as can be seen without W. If a step gathered keys that it must leave alone, it might gather the same ones for
  /// ever, and never come to what lies behind them.
  private func seemsLocked(_ key: UnsafeRawBufferPointer) -> Bool {
    guard let keyLocks = segment.participant?.keyLocks else { return false }
    return unsafe keyLocks.seemsLocked(key, seed: segment.hashSeed)
  }

  private func removeIfExpired(_ key: [UInt8], now: UInt64) throws(EngineError) -> Bool {
    let result = unsafe key.withUnsafeBytes { bytes in
      Result { () throws(EngineError) in
        guard let found = unsafe newestInBarrier(bytes), found.isExpired(at: now),
          unsafe !isLocked(bytes)
        else { return false }
        return try unsafe segment.barriers.removeEntry(bytes) != 0
      }
    }
    return try result.get()
  }
}
