public import TableEngine

/// A dictionary that all processes share: all instances of one name are the same dictionary.
///
/// ```swift
/// let ages = try SharedDictionary<String, Int>("ages", in: table)
/// try ages.set("ann", 41)
/// try ages.mutate("ann", default: 0) { $0 += 1 }
/// let age = try ages["ann"]
/// ```
/// Element K lies under the key `NAME/K`, where `shmctl ls NAME/` shows it, beside the index of all keys. Under NAME lie the
/// dictionary's types and the number of its elements. An element that the table's own API stores under such a key is found by its key,
/// but neither counted nor visited, and stays behind `removeAll`; also once the dictionary has stored another value for it. Remove it first.
///
/// Reads wait as `table.get` and ``Table/read(timeout:_:)`` do, changes are one barrier each and wait as
/// `Table.barrier(timeout:_:)` does. Both throw what those throw, and `typeMismatch` if the name belongs to something
/// else. A read of one element checks that element's type only. If a walk meets an element whose key or value is not valid as this
/// program's types, such as a case of an enum that only a later release has, the walk throws `typeMismatch`. Inside a section of the
/// table use the forms with `in:`: they wait for nothing, and several of them read or change one state. What is returned is a copy.
/// Safe to use from any thread.
public struct SharedDictionary<Key: SharedKey, Value: TableValue>: Sendable {
  @usableFromInline let store: ElementStore<Key, Value>

  /// Names it; reads and writes nothing yet.
  /// - Parameters:
  ///   - name: 1 to 200 bytes without "/", "#" and control characters.
  ///   - table: where it lies.
  /// - Throws: `invalid` for another name. Touches the table not at all.
  public init(_ name: String, in table: Table) throws(TableError) {
    store = try ElementStore(
      name, table, signature: "dictionary of \(Key.keyForm) to \(SharedTable.signature(of: Value.self))")
  }

  /// The table that it lies in.
  public var table: Table { store.table }
  /// The name that it has in the table.
  public var name: String { store.place.name.text }

  /// The value of a key as of now; nil if there is none.
  @inlinable
  public subscript(key: Key) -> Value? {
    get throws(TableError) {
      try store.get(key)
    }
  }

  /// The value of a key in a section; nil if there is none.
  @inlinable
  public func get(
    _ key: Key, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> Value? {
    try store.get(key, in: section)
  }

  /// Whether the key is there.
  @inlinable
  public func contains(_ key: Key) throws(TableError) -> Bool { try store.contains(key) }

  /// Whether the key is there, as a section sees it.
  @inlinable
  public func contains(
    _ key: Key, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> Bool {
    try store.contains(key, in: section)
  }

  /// The number of elements. It is stored, so this is one look-up.
  public var count: Int {
    @inlinable get throws(TableError) {
      try table.withSection(timeout: nil) { view throws(TableError) in try store.count(in: view) }
    }
  }

  /// The number of elements, as a section sees it.
  @inlinable
  public func count(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> Int {
    try store.count(in: section)
  }

  /// Whether there are no elements, as of the newest committed version.
  public var isEmpty: Bool {
    @inlinable get throws(TableError) { try count == 0 }
  }

  /// The version of a key's value, for `if: .version(…)`; nil if there is none.
  @inlinable
  public func version(forKey key: Key) throws(TableError) -> UInt64? {
    try store.withKey(key) { key throws(TableError) in try table.withEntry(key) { $0.version } }
  }

  /// Visits the elements of one snapshot, in no particular order.
  ///
  /// Its work grows with the dictionary, not with the table. Writers of the rwlock variant wait meanwhile.
  @inlinable
  public func forEach(timeout: Duration? = nil, _ body: (Key, Value) throws -> Void) throws {
    try table.read(timeout: timeout) { view in try forEach(in: view, body) }
  }

  /// Visits the elements in a section; in a barrier, `body` must not write.
  @inlinable
  public func forEach(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable), _ body: (Key, Value) throws -> Void
  ) throws {
    try visit(in: section) { key, value in
      try body(key, value)
      return true
    }
  }

  /// As ``forEach(in:_:)``, until `body` returns false.
  @inlinable
  func visit(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable), _ body: (Key, Value) throws -> Bool
  ) throws {
    try store.visit(in: section) { key, entry in try body(key, store.value(entry, key)) }
  }

  /// The keys of one snapshot.
  @inlinable
  public func keys() throws -> [Key] {
    try table.withSection { view in
      var keys: [Key] = []
      try store.visit(in: view) { key, _ in
        keys.append(key)
        return true
      }
      return keys
    }
  }

  /// The values of one snapshot.
  @inlinable
  public func values() throws -> [Value] {
    try table.withSection { view in
      var values: [Value] = []
      try forEach(in: view) { _, value in values.append(value) }
      return values
    }
  }

  /// A copy of one snapshot. Of several keys that Swift takes for equal texts (``SharedKey``) it has one, with the value of any of them;
  /// ``keys()`` and ``forEach(timeout:_:)`` have all.
  @inlinable
  public func allElements() throws -> [Key: Value] { try table.withSection { view in try allElements(in: view) } }

  /// A copy of the elements, as a section sees them.
  @inlinable
  public func allElements(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws -> [Key: Value] {
    var elements: [Key: Value] = [:]
    // A count that is wrong costs no memory.
    elements.reserveCapacity(min(try count(in: section), 4096))
    try forEach(in: section) { key, value in elements[key] = value }
    return elements
  }
}
