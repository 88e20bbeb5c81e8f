import CShims

extension Segment {
  /// Removes expired keys in one barrier.
  ///
  /// They are found on a snapshot, outside the barrier, and judged again inside it by the same instant: a key that
  /// was renewed meanwhile stays.
  /// - Parameter limit: the most keys to remove.
  /// - Returns: how many were removed.
  public func removeExpired(limit: Int, timeoutNanoseconds: UInt64, now: UInt64) throws(EngineError) -> Int {
    let keys = try expiredKeys(limit: limit, timeoutNanoseconds: timeoutNanoseconds, now: now)
    if keys.isEmpty { return 0 }
    try beginBarrier(timeoutNanoseconds: timeoutNanoseconds, now: now)
    do throws(EngineError) {
      var removed = 0
      for key in keys where try removeIfExpired(key, now: now) { removed += 1 }
      commitBarrier()
      return removed
    } catch {
      abortBarrier()
      throw error
    }
  }

  private func expiredKeys(limit: Int, timeoutNanoseconds: UInt64, now: UInt64) throws(EngineError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    var cursor = ScanCursor()
    let section = try beginRead(timeoutNanoseconds: timeoutNanoseconds, now: 0)
    defer { endRead(section) }
    while !cursor.isAtEnd, keys.count < limit {
      try scan(&cursor, section) { found in
        if found.meta.hasExpiry, found.expiry <= now { keys.append(unsafe [UInt8](found.key)) }
        return keys.count < limit
      }
    }
    return keys
  }

  func removeIfExpired(_ key: [UInt8], now: UInt64) throws(EngineError) -> Bool {
    let result = unsafe key.withUnsafeBytes { bytes in
      Result { () throws(EngineError) in
        // Present by any clock, but expired by this one.
        guard let found = try unsafe findInBarrier(bytes, now: 0), found.meta.hasExpiry, found.expiry <= now else {
          return false
        }
        return try unsafe remove(bytes)
      }
    }
    return try result.get()
  }
}
