package import TableEngine

/// For tools that carry values from one table to another without knowing their types: dumps, copies.
extension EntryView {
  /// What is stored beside the bytes.
  package var attributes: ValueAttributes { found.carriedAttributes }
}

extension Transaction {
  /// Stores bytes with what was stored beside them elsewhere.
  /// - Throws: what `set` throws.
  package mutating func carry(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ attributes: ValueAttributes
  ) throws(TableError) {
    do throws(EngineError) {
      try segment.with { segment throws(EngineError) in try unsafe segment.put(key, bytes, attributes) }
    } catch {
      throw table.named(error)
    }
  }

  /// Stores bytes that were copied out, with what was stored beside them elsewhere.
  package mutating func carry(
    _ key: some TableKey, _ bytes: [UInt8], _ attributes: ValueAttributes
  ) throws(TableError) {
    try unsafe key.withKeyBytes { key throws(TableError) in
      try unsafe bytes.withKeyBytes { bytes throws(TableError) in try unsafe carry(key, bytes, attributes) }
    }
  }

  /// Whether the key is present and not expired, as this barrier sees it.
  package func contains(bytes key: UnsafeRawBufferPointer) throws(TableError) -> Bool {
    try unsafe find(RawKey(key)) != nil
  }
}

extension Transaction {
  /// A copy of a value's bytes and of what is stored beside them, as this barrier sees it: storing may move, or take, what lies there.
  package func carried(_ key: some TableKey) throws(TableError) -> (bytes: [UInt8], attributes: ValueAttributes)? {
    guard let found = try find(key) else { return nil }
    return (unsafe [UInt8](found.value), found.carriedAttributes)
  }
}
