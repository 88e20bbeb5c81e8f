import TableEngine

/// Changes that leave a value what it is, also one of a struct whose type this program does not know.
extension Transaction {
  /// Gives a key another expiry; its value and type stay.
  /// - Returns: whether the key was there.
  /// - Throws: as ``set(_:_:expires:)`` does.
  @discardableResult
  public mutating func setExpiration(_ expires: Expiration, of key: some TableKey) throws(TableError) -> Bool {
    guard let stored = try find(key).map(StoredEntry.init) else { return false }
    try put(stored, under: key, expiry: expires.nanoseconds(now: now))
    return true
  }

  /// Moves a value to another key, with its type and expiry; what was there is replaced.
  /// - Returns: whether the key was there.
  /// - Throws: as ``set(_:_:expires:)`` does; both keys are then as they were.
  @discardableResult
  public mutating func rename(_ key: some TableKey, to target: some TableKey) throws(TableError) -> Bool {
    guard let stored = try find(key).map(StoredEntry.init) else { return false }
    // Both or neither: whoever catches the error of the second goes on in the barrier.
    try withSavepoint { (tx: inout Transaction) throws(TableError) in
      // Removed first: a key may be renamed to itself.
      try tx.remove(key)
      try tx.put(stored, under: target, expiry: stored.attributes.expiry)
    }
    return true
  }

  private mutating func put(
    _ stored: StoredEntry, under key: some TableKey, expiry: UInt64
  ) throws(TableError) {
    var attributes = stored.attributes
    attributes.expiry = expiry
    do throws(EngineError) {
      try unsafe key.withKeyBytes { key throws(EngineError) in
        try unsafe stored.bytes.withKeyBytes { bytes throws(EngineError) in
          try segment.with { segment throws(EngineError) in try unsafe segment.put(key, bytes, attributes) }
        }
      }
    } catch {
      throw table.named(error)
    }
  }
}

/// A value with all that is stored beside it, copied out: storing may move, or take, what lies there.
private struct StoredEntry {
  let bytes: [UInt8]
  let attributes: ValueAttributes

  init(_ found: FoundEntry) {
    bytes = unsafe [UInt8](found.value)
    attributes = found.carriedAttributes
  }
}
