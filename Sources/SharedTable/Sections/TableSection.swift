import TableEngine

/// What a value or collection can be read in: a read section's view, or a barrier's transaction, which shows its own
/// changes too.
///
/// Several reads in one section see one state of the table. Nothing here waits: the section has waited already.
public protocol TableSection: ~Copyable, ~Escapable {
  /// The value of a key, copied out; nil if absent or expired.
  /// - Throws: `typeMismatch`; for an observer `snapshotTooOld`.
  func get<T: TableValue>(_ key: some TableKey, as type: T.Type) throws(TableError) -> T?

  /// Whether the key is present and not expired.
  func contains(_ key: some TableKey) throws(TableError) -> Bool

  /// Calls `body` with what lies under a key, in place; nil if absent or expired.
  func withEntry<R>(
    _ key: some TableKey, _ body: (borrowing EntryView) throws(TableError) -> R
  ) throws(TableError) -> R?

  /// Visits every key that begins with `prefix`, in no particular order, each exactly once. Looks at the whole table. In a
  /// barrier, `body` must not write.
  func forEach(prefix: some TableKey, _ body: (_ key: RawSpan, _ entry: EntryView) throws -> Void) throws

  /// The first value that `transform` makes of a key that begins with `prefix` and its entry, in no particular order; nil if it
  /// makes none. Looks no further then. In a barrier, `transform` must not write.
  func first<R>(
    prefix: some TableKey, _ transform: (_ key: RawSpan, _ entry: EntryView) throws -> R?
  ) throws -> R?

  /// Whether this is a section of the table that a handle is of; opened by another handle of it, perhaps. A table that was dropped and one made
  /// since under its name are two tables.
  func isSection(of table: Table) -> Bool
}

extension TableSection where Self: ~Copyable & ~Escapable {
  /// What lies under a key; valid as long as the section and, in a barrier, until the key is written.
  @inline(__always)
  func found(_ key: RawKey) throws(TableError) -> FoundEntry? { try withEntry(key) { entry in entry.found } }
}

extension Table {
  /// Whoever names something of this table in a section of another one would read and write what lies there under that name.
  /// - Parameter name: of what is looked for in the section.
  /// - Throws: `wrongTable`.
  @inlinable @inline(__always)
  func admit(
    _ section: borrowing some (TableSection & ~Copyable & ~Escapable), _ name: @autoclosure () -> String
  ) throws(TableError) {
    if !section.isSection(of: self) { throw notInSection(name()) }
  }

  @usableFromInline @inline(never)
  func notInSection(_ name: String) -> TableError {
    TableError(
      .wrongTable, table: self.name,
      "'\(name)' belongs to another table than the section; if the table was dropped and made anew since, make it anew from the "
        + "section's table")
  }

  /// Another handle, perhaps; the same table in shared memory.
  @usableFromInline @inline(never)
  func isSameTable(as other: Table) -> Bool { segment.uuid == other.segment.uuid }
}

// `withEntry` is compiled for `found` beforehand: collections come to it through the protocol, and its general form asks the runtime for the
// types in it at each call.

extension ReadView: TableSection {
  /// Whether this is a section of the table that a handle is of; opened by another handle of it, perhaps.
  @inlinable @inline(__always)
  public func isSection(of table: Table) -> Bool {
    segment.with { $0 === table.segment } || self.table.isSameTable(as: table)
  }

  /// Calls `body` with what lies under a key, in place; nil if absent or expired.
  @inlinable @_specialize(where Key == RawKey, R == FoundEntry)
  public func withEntry<Key: TableKey, R>(
    _ key: Key, _ body: (borrowing EntryView) throws(TableError) -> R
  ) throws(TableError) -> R? {
    guard let found = try find(key) else { return nil }
    return try body(EntryView(found))
  }
}

extension Transaction: TableSection {
  /// Whether this is a barrier of the table that a handle is of; opened by another handle of it, perhaps.
  @inlinable @inline(__always)
  public func isSection(of table: Table) -> Bool {
    segment.with { $0 === table.segment } || self.table.isSameTable(as: table)
  }

  /// Calls `body` with what lies under a key as this barrier sees it, in place; nil if absent or expired.
  @inlinable @_specialize(where Key == RawKey, R == FoundEntry)
  public func withEntry<Key: TableKey, R>(
    _ key: Key, _ body: (borrowing EntryView) throws(TableError) -> R
  ) throws(TableError) -> R? {
    guard let found = try find(key) else { return nil }
    return try body(view(found))
  }

  /// Visits every key that begins with `prefix` as this barrier sees them, in no particular order, each exactly once.
  ///
  /// `body` must not write, as it could by a ``HostState``: what it changes, the walk may miss or meet. Looks at the whole table.
  public func forEach(
    prefix: some TableKey = "", _ body: (_ key: RawSpan, _ entry: EntryView) throws -> Void
  ) throws {
    try visitAll(prefix, body)
  }

  /// The first value that `transform` makes of a key that begins with `prefix` and its entry as this barrier sees them, in no
  /// particular order; nil if it makes none. `transform` must not write, as in ``forEach(prefix:_:)``.
  public func first<R>(
    prefix: some TableKey = "", _ transform: (_ key: RawSpan, _ entry: EntryView) throws -> R?
  ) throws -> R? {
    try visitFirst(prefix, transform)
  }
}
