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

  /// Whether the key is present and not expired, as this barrier sees it.
  package func contains(bytes key: UnsafeRawBufferPointer) throws(TableError) -> Bool {
    try unsafe find(RawKey(key)) != nil
  }
}

extension Transaction {
  /// A value's bytes and what is stored beside them, as this barrier sees it.
  package func carried(_ key: some TableKey) throws(TableError) -> (bytes: [UInt8], attributes: ValueAttributes)? {
    guard let found = try find(key) else { return nil }
    return (unsafe [UInt8](found.value), found.carriedAttributes)
  }
}

extension Transaction {
  /// Visits every entry as this barrier sees it; `body` must not write to this table, and may write to another.
  package func forEachEntry(_ body: (_ key: RawSpan, _ entry: EntryView) throws -> Void) throws {
    try visit("") { key, entry in
      try body(key, entry)
      return true
    }
  }
}
