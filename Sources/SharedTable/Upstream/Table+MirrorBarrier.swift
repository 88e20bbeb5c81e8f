import TableEngine

/// For who mirrors another store into a table.
extension Table {
  /// A barrier on a mirror. Nothing is expired to it: it sees, and replaces, what is stored.
  ///
  /// Blocks and throws as ``barrier(timeout:_:)``; starts over once, after gc, when the table was full.
  package func mirrorBarrier<R>(_ body: (inout Transaction) throws(TableError) -> R) throws(TableError) -> R {
    try startingOverWhenFull { () throws(TableError) in try runMirrorBarrier(body) }
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
  /// Stores a value that does not expire, unless the key has exactly this value and type and does not expire.
  /// - Returns: whether it had not.
  package mutating func replace(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, type: ValueType
  ) throws(TableError) -> Bool {
    if let found = try unsafe find(RawKey(key)), found.meta.type == type.rawValue, !found.meta.hasExpiry,
      unsafe found.value.elementsEqual(bytes)
    {
      return false
    }
    try unsafe put(key, bytes, type: type)
    return true
  }

  /// Stores a value that does not expire.
  package mutating func put(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, type: ValueType
  ) throws(TableError) {
    try unsafe store(key, bytes, StoredForm(type: type), .never)
  }

  /// Removes a key, if it is there.
  package mutating func removeKey(_ key: UnsafeRawBufferPointer) throws(TableError) {
    _ = try unsafe remove(bytes: key)
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
