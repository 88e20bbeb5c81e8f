import TableEngine

/// For who mirrors another store into a table.
extension Table {
  /// A barrier on a mirror. Nothing is expired to it: it sees, and replaces, what is stored.
  ///
  /// Blocks and throws as ``barrier(timeout:_:)``; tried again as ``FullRetry`` says.
  package func mirrorBarrier<R>(_ body: (inout Transaction) throws(TableError) -> R) throws(TableError) -> R {
    try retryingWhenFull(timeoutNanoseconds) { () throws(TableError) in try runMirrorBarrier(body) }
  }

  private func runMirrorBarrier<R>(_ body: (inout Transaction) throws(TableError) -> R) throws(TableError) -> R {
    do throws(EngineError) {
      try segment.beginMirrorBarrier(timeoutNanoseconds: timeoutNanoseconds)
    } catch {
      throw named(error)
    }
    return try runBarrier(body)
  }
}

extension Transaction {
  /// Stores a value that does not expire, unless the key has exactly this value and type and does not expire, or late enough.
  /// - Parameter earliest: nanoseconds since 1970; an expiry from then on stays. Nil: none does.
  /// - Returns: whether it was stored, and the expiry that it has in any case; nil: none.
  package mutating func replace(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, type: ValueType, keepingExpiryFrom earliest: UInt64?
  ) throws(TableError) -> (isStored: Bool, expiry: UInt64?) {
    if let found = try unsafe find(RawKey(key)), found.meta.type == type.rawValue,
      unsafe found.value.elementsEqual(bytes)
    {
      if !found.meta.hasExpiry { return (false, nil) }
      if let earliest, found.expiry >= earliest { return (false, found.expiry) }
    }
    try unsafe put(key, bytes, type)
    return (true, nil)
  }

  /// Gives a key another expiry, in nanoseconds since 1970, if it is there; else it stays what it is.
  /// - Returns: how many bytes were stored anew for it.
  package mutating func put(expiry: UInt64, of key: [UInt8]) throws(TableError) -> Int {
    guard case (let bytes, var attributes)? = try carried(key) else { return 0 }
    attributes.expiry = expiry
    try carry(key, bytes, attributes)
    return key.count + bytes.count
  }

  /// Removes all keys for which `isUnwanted` is true.
  /// - Returns: how many.
  package mutating func removeKeys(where isUnwanted: (UnsafeRawBufferPointer) -> Bool) throws(TableError) -> Int {
    // Collected first: what visits the table must not change it.
    var unwanted: [[UInt8]] = []
    try scan("") { found in
      if unsafe isUnwanted(found.key) { unwanted.append(unsafe [UInt8](found.key)) }
      return true
    }
    for key in unwanted { try remove(key) }
    return unwanted.count
  }
}
