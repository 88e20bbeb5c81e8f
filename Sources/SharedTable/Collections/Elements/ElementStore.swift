public import TableEngine

/// What dictionaries and sets are made of: one key of the table for each element, and an ``ElementIndex`` of them.
@usableFromInline
struct ElementStore<Key: SharedKey, Value: TableValue>: Sendable {
  @usableFromInline let table: Table
  @usableFromInline let place: CollectionPlace
  /// The table's, which holds it.
  @usableFromInline let segment: UncountedReference<Segment>
  /// The prefix of elements' keys. The place's name owns its memory.
  @usableFromInline let prefix: KeptBytes

  @inlinable var index: ElementIndex { ElementIndex(place: place) }

  init(_ name: String, _ table: Table, signature: String) throws(TableError) {
    self.table = table
    place = CollectionPlace(table: table, name: try CollectionKeys(name, table), signature: signature)
    segment = unsafe UncountedReference(table.segment)
    prefix = place.name.prefix
  }

  /// Calls `body` with the table's key of an element.
  @inlinable @inline(__always)
  func withKey<R, E: Error>(_ element: Key, _ body: (PrefixedKey) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(place) {} }
    return try unsafe element.withElementKey { bytes throws(E) in
      if unsafe CollectionKeys.isReserved(bytes) { return try unsafe place.name.withDoubledKey(bytes, body) }
      return try unsafe body(PrefixedKey(prefix, bytes))
    }
  }

  @inlinable
  func count(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> Int {
    try index.count(in: section)
  }

  @inlinable
  func get(
    _ key: Key, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> Value? {
    try table.admit(section, place.name.text)
    return try withKey(key) { key throws(TableError) in try section.get(key, as: Value.self) }
  }

  @inlinable
  func contains(
    _ key: Key, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> Bool {
    try table.admit(section, place.name.text)
    return try withKey(key) { key throws(TableError) in try section.contains(key) }
  }

  /// The newest committed value.
  @inlinable @inline(__always)
  func get(_ key: Key) throws(TableError) -> Value? {
    defer { withExtendedLifetime(table) {} }
    return try withKey(key) { key throws(TableError) in
      try unsafe key.withKeyBytes { bytes throws(TableError) in
        if let quick: Value? = unsafe segment.value(bytes) { return quick }
        return try unsafe table.getUndecided(RawKey(bytes), as: Value.self)
      }
    }
  }

  @inlinable @inline(__always)
  func contains(_ key: Key) throws(TableError) -> Bool {
    defer { withExtendedLifetime(table) {} }
    return try withKey(key) { key throws(TableError) in
      try unsafe key.withKeyBytes { bytes throws(TableError) in
        if let isThere: Bool? = unsafe segment.quickly(bytes, nil, { _ in true }) { return isThere ?? false }
        return try unsafe table.containsUndecided(RawKey(bytes))
      }
    }
  }

  /// Visits each element until `body` returns false.
  @inlinable
  func visit(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable), _ body: (Key, EntryView) throws -> Bool
  ) throws {
    try unsafe index.forEachElement(in: section) { bytes, entry in
      guard let key = unsafe Key(keyBytes: bytes) else { throw unsafe place.foreignKey(bytes) }
      return try body(key, entry)
    }
  }

  @inlinable
  func value(_ entry: EntryView, _ key: Key) throws(TableError) -> Value {
    switch decode(entry.found, as: Value.self) {
    case .success(let value): return value
    case .failure(let mismatch):
      throw try withKey(key) { key throws(TableError) in table.mismatched(mismatch, key) }
    }
  }

  // MARK: - Changes

  /// Stores one element if the condition holds, and lists it if it was not there: a barrier of its own.
  /// - Returns: whether it was stored.
  @inlinable
  func set(
    _ key: Key, _ value: Value, if condition: Table.Condition, timeout: Duration?
  ) throws(TableError) -> Bool {
    try unsafe key.withElementKey { key throws(TableError) in
      try unsafe value.withTableBytes { bytes throws(TableError) in
        try unsafe place.setElement(key, bytes, StoredForm(of: Value.self), if: condition, timeout: timeout)
      }
    }
  }

  /// As ``set(_:_:if:timeout:)``, as a part of a barrier.
  /// - Returns: whether it was stored.
  @inlinable
  func set(
    _ key: Key, _ value: Value, if condition: Table.Condition, in tx: inout Transaction
  ) throws(TableError) -> Bool {
    try unsafe key.withElementKey { key throws(TableError) in
      try unsafe value.withTableBytes { bytes throws(TableError) in
        try unsafe place.setElement(key, bytes, StoredForm(of: Value.self), if: condition, in: &tx)
      }
    }
  }

  /// Stores some elements, and lists those that were not there.
  @inlinable
  func set(_ elements: some Sequence<(key: Key, value: Value)>, in tx: inout Transaction) throws(TableError) {
    var edit = try index.edit(in: tx)
    try tx.withSavepoint { tx throws(TableError) in
      for (key, value) in elements {
        try unsafe key.withElementKey { key throws(TableError) in
          try unsafe value.withTableBytes { bytes throws(TableError) in
            try unsafe edit.set(key, bytes, StoredForm(of: Value.self), in: &tx)
          }
        }
      }
      try edit.store(in: &tx)
    }
  }

  /// - Returns: how many of the keys were there.
  @discardableResult @inlinable
  func remove(_ keys: some Sequence<Key>, in tx: inout Transaction) throws(TableError) -> Int {
    var edit = try index.edit(in: tx)
    var removed = 0
    try tx.withSavepoint { tx throws(TableError) in
      for key in keys {
        try unsafe key.withElementKey { key throws(TableError) in
          if try unsafe edit.remove(key, in: &tx) { removed += 1 }
        }
      }
      try edit.store(in: &tx)
    }
    return removed
  }

  /// Removes all elements and the header: the name is free for another type.
  @usableFromInline
  func removeAll(in tx: inout Transaction) throws(TableError) {
    do throws(TableError) {
      try index.removeAll(in: &tx)
    } catch {
      guard error.code == .damaged else { throw error }
      try place.removeDamaged(in: &tx)
    }
  }
}
