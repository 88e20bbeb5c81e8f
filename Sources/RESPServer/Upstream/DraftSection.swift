import SharedTable

/// A mirrored table at one revision, with the changes that commands drafted: what write commands run on where their writes go to the
/// store.
@safe
struct DraftSection: WriteSection, ~Copyable, ~Escapable {
  private let view: ReadView
  private let draft: Draft

  @_lifetime(copy view)
  init(_ view: ReadView, _ draft: Draft) {
    self.view = view
    self.draft = draft
  }

  var now: UInt64 { view.now }
  var longestValue: Int { draft.table.maximumValueLength }

  /// Whether all that the commands would change is drafted: a part alone must not be made.
  func requireWhole() throws(CommandError) {
    guard let excess = draft.excess else { return }
    throw CommandError("EXECABORT Transaction discarded because of: \(excess.message)")
  }

  // MARK: - Reading

  func look(_ key: UnsafeRawBufferPointer, _ body: (SeenEntry) -> Void) throws(TableError) -> Bool {
    guard Table.keyLengths ~= key.count else { return false }
    let name = unsafe [UInt8](key)
    if let change = draft.change(of: name) {
      guard let value = change else { return false }
      unsafe body(.drafted(value.span.bytes))
      return true
    }
    return try unsafe lookInTable(key, body)
  }

  private func lookInTable(
    _ key: UnsafeRawBufferPointer, _ body: (SeenEntry) -> Void
  ) throws(TableError) -> Bool {
    let isPresent = try unsafe view.look(key, body)
    draft.note(unsafe [UInt8](key), isPresent: isPresent)
    return isPresent
  }

  /// What visits all keys depends on keys that there are not yet: no premise holds them off.
  func scan(
    from cursor: UInt64, _ body: (_ key: UnsafeRawBufferPointer, _ entry: EntryView) -> Bool
  ) throws(TableError) -> UInt64 {
    throw refusal("KEYS, SCAN, RANDOMKEY and DBSIZE are no part of a transaction that writes to it; call them before")
  }

  // MARK: - Writing

  /// A mirror has none: what the other store's programs write is bytes.
  func nameOfCollection(of key: UnsafeRawBufferPointer) -> [UInt8]? { nil }

  mutating func put(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ type: ValueType, expiry: UInt64?
  ) throws(TableError) {
    try refuse(Expiration(at: expiry))
    try unsafe draft.set([UInt8](key), [UInt8](bytes))
  }

  /// As digits: the store's values are bytes.
  mutating func set(_ key: Bytes, _ number: Int, expires: Expiration) throws(TableError) {
    try refuse(expires)
    try draft.set(key.array, Array("\(number)".utf8))
  }

  mutating func set(_ key: Bytes, _ number: Double, expires: Expiration) throws(TableError) {
    try refuse(expires)
    try draft.set(key.array, Array(Float80Text.shortest(number).utf8))
  }

  /// The table is looked at also where the draft knows better: whether the store will find something to remove tells whether there
  /// will be a revision to wait for.
  mutating func take(_ key: UnsafeRawBufferPointer) throws(TableError) -> Bool {
    guard Table.keyLengths ~= key.count else { return false }
    let isPresent = try unsafe look(key) { _ in }
    let isInTable = try unsafe lookInTable(key) { _ in }
    if isPresent || isInTable { try draft.remove(unsafe [UInt8](key)) }
    return isPresent
  }

  mutating func copy(
    _ source: UnsafeRawBufferPointer, to target: UnsafeRawBufferPointer, expiry: UInt64?
  ) throws(TableError) -> Bool {
    var value: [UInt8]?
    _ = try unsafe look(source) { entry in value = unsafe entry.bytes.withUnsafeBytes { unsafe [UInt8]($0) } }
    guard let value else { return false }
    try unsafe value.withKeyBytes { bytes throws(TableError) in
      try unsafe put(target, bytes, .bytes, expiry: expiry)
    }
    return true
  }

  mutating func removeAll(most: Int) -> Bool {
    draft.removeAll()
    return true
  }

  mutating func withSavepoint<R: ~Copyable, E: Error>(
    _ body: (inout DraftSection) throws(E) -> R
  ) throws(E) -> R {
    let draft = draft
    return try draft.withSavepoint { () throws(E) in try body(&self) }
  }

  /// A new expiry, or one that the key has by its lease: what is stored over there without the lease would not end with it.
  private func refuse(_ expires: Expiration) throws(TableError) {
    guard expires == .never else {
      throw refusal(
        "no expiry is stored there, as the other store's leases are not served; store without one, as SET does")
    }
  }

  private func refusal(_ message: String) -> TableError {
    TableError(.unsupported, table: draft.table.name, "it mirrors another store: \(message)")
  }
}
