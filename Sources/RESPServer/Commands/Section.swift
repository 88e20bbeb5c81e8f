import SharedTable

/// What commands read in: a read section, or a barrier or a draft, which see their own changes.
protocol Section: ~Copyable, ~Escapable {
  /// Nanoseconds since 1970 by which expiry is judged.
  var now: UInt64 { get }
  /// Shows a key's value.
  /// - Returns: whether there is one; no key of no bytes, or of too many, has any.
  func look(_ key: UnsafeRawBufferPointer, _ body: (SeenEntry) -> Void) throws(TableError) -> Bool
  func scan(
    from cursor: UInt64, _ body: (_ key: UnsafeRawBufferPointer, _ entry: EntryView) -> Bool
  ) throws(TableError) -> UInt64
}

extension ReadView: Section {
  func look(_ key: UnsafeRawBufferPointer, _ body: (SeenEntry) -> Void) throws(TableError) -> Bool {
    try unsafe show(key) { body(.stored($0)) }
  }
}

extension Transaction: Section {
  func look(_ key: UnsafeRawBufferPointer, _ body: (SeenEntry) -> Void) throws(TableError) -> Bool {
    try unsafe show(key) { body(.stored($0)) }
  }
}

extension Section where Self: ~Copyable & ~Escapable {
  /// A value as text, with what is stored beside it.
  func value(_ key: Bytes) throws(TableError) -> StoredValue? {
    var value: StoredValue?
    _ = try unsafe look(key.raw) { value = StoredValue($0) }
    return value
  }

  func contains(_ key: Bytes) throws(TableError) -> Bool { try unsafe look(key.raw) { _ in } }

  /// The version of a key's value; 0 if there is none.
  func version(_ key: Bytes) throws(TableError) -> UInt64 {
    var version: UInt64 = 0
    _ = try unsafe look(key.raw) { version = $0.version }
    return version
  }

  /// Visits every key until `body` returns false.
  func forEachKey(_ body: (Bytes) -> Bool) throws(TableError) {
    var cursor: UInt64 = 0
    var goesOn = true
    repeat {
      cursor = unsafe try scan(from: cursor) { key, _ in
        guard goesOn else { return false }
        goesOn = unsafe body(Bytes(key))
        return goesOn
      }
    } while cursor != 0 && goesOn
  }
}

extension Reply {
  /// A value, in place if it is stored as it is sent.
  mutating func value(_ entry: SeenEntry) throws(CommandError) {
    let type = entry.type
    if type == .string || type == .bytes {
      let bytes = entry.bytes
      try room(for: bytes.byteCount)
      unsafe bytes.withUnsafeBytes { unsafe bulk($0) }
    } else {
      let text = StoredValue(entry).text
      try room(for: text.count)
      bulk(text)
    }
  }

  /// A reply that a buffer cannot hold is refused before it is made.
  func room(for count: Int) throws(CommandError) {
    if self.count + count > limit { throw .replyTooLarge }
  }
}
