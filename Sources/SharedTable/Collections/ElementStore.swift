/// What dictionaries and sets are made of: one key of the table for each element, and their number in the header.
///
/// The number is exact, since every change of it is in the barrier of the change that it counts.
@usableFromInline
struct ElementStore<Key: SharedKey, Value: TableValue>: Sendable {
  @usableFromInline let table: Table
  @usableFromInline let place: CollectionPlace

  init(_ name: String, _ table: Table, signature: String) throws(TableError) {
    self.table = table
    place = CollectionPlace(table: table, name: try CollectionName(name, table), signature: signature, numbers: 1)
  }

  func count(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> Int {
    try place.header(in: section)?[0] ?? 0
  }

  @inlinable
  func get(
    _ key: Key, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> Value? {
    try unsafe key.withElementKey { bytes throws(TableError) in
      try section.get(unsafe PrefixedKey(place.name.prefix, bytes), as: Value.self)
    }
  }

  @inlinable
  func contains(
    _ key: Key, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> Bool {
    try unsafe key.withElementKey { bytes throws(TableError) in
      try section.contains(unsafe PrefixedKey(place.name.prefix, bytes))
    }
  }

  @inlinable
  func contains(_ key: Key) throws(TableError) -> Bool {
    try place.name.withKey(key) { key throws(TableError) in try table.contains(key) }
  }

  /// Visits each element until `body` returns false. Looks at the whole table.
  func forEach(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable), _ body: (Key, EntryView) throws -> Bool
  ) throws {
    // Nothing there is the frequent end of a walk that need not be: the header of another type is found in any case.
    guard try place.header(in: section) != nil else { return }
    try section.forEach(prefix: place.name.prefix) { bytes, entry in
      guard let key = place.name.element(bytes, as: Key.self) else {
        throw TableError(
          .typeMismatch, table: table.name,
          "under '\(place.name.text)/' lies a key that is none of \(place.signature); remove it")
      }
      return try body(key, entry)
    }
  }

  func value(_ entry: EntryView, _ key: Key) throws(TableError) -> Value {
    if let value = entry.value(as: Value.self) { return value }
    throw TableError(
      .typeMismatch, table: table.name,
      "an element of '\(place.name.text)' is of type \(entry.type?.name ?? "unknown"), not \(Value.tableType.name)")
  }

  // MARK: - Changes

  /// Stores one element, and counts it if it was not there.
  @inlinable
  func set(_ key: Key, _ value: Value, in tx: inout Transaction) throws(TableError) {
    try unsafe key.withElementKey { key throws(TableError) in
      try unsafe value.withTableBytes { bytes throws(TableError) in
        try unsafe place.setElement(key, bytes, StoredForm(of: Value.self), in: &tx)
      }
    }
  }

  /// Stores some elements, and counts those that were not there.
  func set(_ elements: some Sequence<(key: Key, value: Value)>, in tx: inout Transaction) throws(TableError) {
    let count = try count(in: tx)
    try tx.withSavepoint { tx throws(TableError) in
      var added = 0
      for (key, value) in elements {
        let isNew = try place.name.withKey(key) { key throws(TableError) in
          let isNew = try !tx.contains(key)
          try tx.set(key, value)
          return isNew
        }
        if isNew { added += 1 }
      }
      if added > 0 { try place.setHeader([count + added], in: &tx) }
    }
  }

  /// - Returns: how many of the keys were there.
  @discardableResult
  func remove(_ keys: some Sequence<Key>, in tx: inout Transaction) throws(TableError) -> Int {
    let count = try count(in: tx)
    var removed = 0
    try tx.withSavepoint { tx throws(TableError) in
      for key in keys {
        if try place.name.withKey(key, { key throws(TableError) in try tx.remove(key) }) { removed += 1 }
      }
      if removed > 0 { try place.setHeader([max(0, count - removed)], in: &tx) }
    }
    return removed
  }
}
