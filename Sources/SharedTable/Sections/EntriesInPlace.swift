import TableEngine

// Entries whatever their type, in place: for servers that carry values without knowing them. They are written for each kind of section:
// what is generic over them would not be specialised for a server's module.

extension Table {
  /// Tells, in a section of the table, that a key is about to be looked up or stored: the cache miss with which that begins is over by then.
  /// - Returns: what ``prefetchEntry(hash:)`` takes; nil if nothing was asked for.
  package func prefetchBucket(of key: UnsafeRawBufferPointer) -> UInt64? { unsafe segment.prefetchBucket(of: key) }

  /// As ``prefetchBucket(of:)``, for the cache miss that follows, some time later.
  package func prefetchEntry(hash: UInt64) { segment.prefetchEntry(hash: hash) }
}

extension ReadView {
  /// Shows a key's entry.
  /// - Returns: whether there is one; no key of no bytes, or of too many, has any.
  package func show(_ key: UnsafeRawBufferPointer, _ body: (EntryView) -> Void) throws(TableError) -> Bool {
    guard unsafe isKey(key), let found = try find(unsafe RawKey(key)) else { return false }
    body(EntryView(found))
    return true
  }

  /// Visits one sub-table and moves the cursor, which begins at 0, behind it.
  /// - Returns: where to go on; 0 at the end. A key that is there throughout is visited exactly once.
  package func scan(
    from cursor: UInt64, _ body: (_ key: UnsafeRawBufferPointer, _ entry: EntryView) -> Bool
  ) throws(TableError) -> UInt64 { try unsafe scanStep(from: cursor, body) }
}

extension Transaction {
  /// Shows a key's entry as this barrier sees it; `body` must not write.
  /// - Returns: whether there is one; no key of no bytes, or of too many, has any.
  package func show(_ key: UnsafeRawBufferPointer, _ body: (EntryView) -> Void) throws(TableError) -> Bool {
    guard unsafe isKey(key), let found = try find(unsafe RawKey(key)) else { return false }
    body(view(found))
    return true
  }

  /// Visits one sub-table as this barrier sees it; `body` must not write.
  package func scan(
    from cursor: UInt64, _ body: (_ key: UnsafeRawBufferPointer, _ entry: EntryView) -> Bool
  ) throws(TableError) -> UInt64 { try unsafe scanStep(from: cursor, body) }

  /// The longest value that the table takes, in bytes.
  package var longestValue: Int { table.maximumValueLength }

  /// Stores bytes as a value of a given type.
  /// - Parameter expiry: nanoseconds since 1970; nil: it does not expire.
  package mutating func put(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ type: ValueType, expiry: UInt64? = nil
  ) throws(TableError) {
    try unsafe store(key, bytes, StoredForm(type: type), Expiration(at: expiry))
  }

  /// Removes a key.
  /// - Returns: whether it was there.
  package mutating func take(_ key: UnsafeRawBufferPointer) throws(TableError) -> Bool {
    unsafe isKey(key) ? try unsafe remove(bytes: key) : false
  }

  /// Stores a key's value, as what it is, under a key (which may be the same) with another expiry.
  /// - Returns: whether there is such a value.
  package mutating func copy(
    _ source: UnsafeRawBufferPointer, to target: UnsafeRawBufferPointer, expiry: UInt64?
  ) throws(TableError) -> Bool {
    guard unsafe isKey(source), case (let bytes, var attributes)? = try carried(unsafe RawKey(source)) else {
      return false
    }
    attributes.expiry = expiry.map { max(1, $0) } ?? 0
    try carry(unsafe RawKey(target), bytes, attributes)
    return true
  }
}

/// Can there be such a key?
private func isKey(_ bytes: UnsafeRawBufferPointer) -> Bool { Table.keyLengths ~= bytes.count }

extension SectionScan where Self: ~Copyable & ~Escapable {
  fileprivate func scanStep(
    from position: UInt64, _ body: (_ key: UnsafeRawBufferPointer, _ entry: EntryView) -> Bool
  ) throws(TableError) -> UInt64 {
    var cursor = ScanCursor(position: position)
    do throws(EngineError) {
      try scan(&cursor) { found in unsafe body(found.key, view(found)) }
    } catch {
      throw table.named(error)
    }
    return cursor.position ?? 0
  }
}
