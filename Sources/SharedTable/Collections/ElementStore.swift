public import TableEngine

/// What dictionaries and sets are made of: one key of the table for each element, and an ``ElementIndex`` of them.
@usableFromInline
struct ElementStore<Key: SharedKey, Value: TableValue>: Sendable {
  @usableFromInline let table: Table
  @usableFromInline let place: CollectionPlace
  /// The table's, which holds it.
  @usableFromInline let segment: UncountedReference<Segment>
  /// Of the place's name, which owns it.
  @usableFromInline let prefix: KeptBytes

  private var index: ElementIndex { ElementIndex(place: place) }

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

  func count(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> Int {
    try index.state(in: section)?.count ?? 0
  }

  @inlinable
  func get(
    _ key: Key, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> Value? {
    try withKey(key) { key throws(TableError) in try section.get(key, as: Value.self) }
  }

  @inlinable
  func contains(
    _ key: Key, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> Bool {
    try withKey(key) { key throws(TableError) in try section.contains(key) }
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
  func visit(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable), _ body: (Key, EntryView) throws -> Bool
  ) throws {
    try unsafe index.forEachKey(in: section) { bytes in
      guard let key = unsafe Key(keyBytes: bytes) else {
        throw place.foreign("key '\(unsafe String.printableStart(bytes))'")
      }
      // `withEntry` passes on only its own kind of error.
      var failure: (any Error)?
      let goesOn = try unsafe place.name.withKey(bytes: bytes) { stored throws(TableError) in
        try section.withEntry(stored) { entry in
          do { return try body(key, entry) } catch {
            failure = error
            return false
          }
        }
      }
      if let failure { throw failure }
      return goesOn ?? true
    }
  }

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

  /// The same as a part of a barrier.
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
  func set(_ elements: some Sequence<(key: Key, value: Value)>, in tx: inout Transaction) throws(TableError) {
    let state = try index.state(in: tx)
    try tx.withSavepoint { tx throws(TableError) in
      var edit = ElementIndexEdit(index, state)
      var isAny = false
      for (key, value) in elements {
        let isNew = try withKey(key) { key throws(TableError) in
          let wasThere = try tx.contains(key)
          try tx.set(key, value)
          return state == nil || !wasThere
        }
        guard isNew else { continue }
        isAny = true
        try unsafe key.withElementKey { key throws(TableError) in _ = try unsafe edit.list(key, in: tx) }
      }
      if isAny { try edit.store(in: &tx) }
    }
  }

  /// - Returns: how many of the keys were there.
  @discardableResult
  func remove(_ keys: some Sequence<Key>, in tx: inout Transaction) throws(TableError) -> Int {
    guard let state = try index.state(in: tx) else { return 0 }
    var removed = 0
    try tx.withSavepoint { tx throws(TableError) in
      var edit = ElementIndexEdit(index, state)
      for key in keys {
        if try withKey(key, { key throws(TableError) in try tx.remove(key) }) { removed += 1 }
        try unsafe key.withElementKey { key throws(TableError) in _ = try unsafe edit.unlist(key, in: tx) }
      }
      if edit.state != state { try edit.store(in: &tx) }
    }
    return removed
  }

  /// Removes all elements and the header: the name is free for another type.
  func removeAll(in tx: inout Transaction) throws(TableError) {
    do throws(TableError) {
      try index.removeAll(in: &tx)
    } catch {
      guard error.code == .damaged else { throw error }
      try place.removeDamaged(in: &tx)
    }
  }
}
