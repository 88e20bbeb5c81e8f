public import SharedTable
import TableEngine

extension ReadView {
  /// Hands every record whose key begins with `prefix` to `body`, all of this view's version, in no order. Claims on values that are being computed
  /// are left out: if they came back while who made them lives, everybody would wait for him.
  public func forEachRecord(prefix: [UInt8] = [], _ body: (DumpRecord) throws -> Void) throws {
    try forEach(prefix: prefix) { key, entry in try entry.withRecord(key, body) }
  }

  /// Hands the records of the table's contents to `body`, as ``forEachRecord(prefix:_:)``. What a mirror says of itself is left out: in a dump, or in
  /// another table, it would be wrong.
  /// - Parameter table: whose view this is.
  public func forEachRecord(of table: Table, prefix: [UInt8] = [], _ body: (DumpRecord) throws -> Void) throws {
    let isMirror = table.isMirror
    try forEachRecord(prefix: prefix) { record in
      if isMirror, unsafe record.key.elementsEqual(Table.Upstream.key.utf8) { return }
      try body(record)
    }
  }

  /// What a dump of this view says of itself.
  public func dumpHeader(of table: Table, prefix: [UInt8] = []) -> DumpHeader {
    DumpHeader(
      table: table.name, variant: table.variant, capacityBytes: table.capacityBytes, version: version, taken: now,
      keyCount: UInt64(table.count), prefix: prefix)
  }
}

extension EntryView {
  fileprivate func withRecord(_ key: RawSpan, _ body: (DumpRecord) throws -> Void) throws {
    if isClaim { return }
    try unsafe key.withUnsafeBytes { keyBytes in
      try unsafe bytes.withUnsafeBytes { valueBytes in
        try unsafe body(DumpRecord(key: keyBytes, value: valueBytes, attributes: attributes, version: version))
      }
    }
  }
}

extension Transaction {
  /// Hands every record but claims to `body`, as this barrier sees them, in no order. It must not write to this table.
  public func forEachRecord(_ body: (DumpRecord) throws -> Void) throws {
    try forEach { key, entry in try entry.withRecord(key, body) }
  }

  /// Stores a record as it is, until its expiry if it has one.
  public mutating func store(_ record: DumpRecord) throws(TableError) {
    try unsafe carry(record.key, record.value, record.attributes)
  }

  /// Whether the record's key is there, as this barrier sees it.
  public func contains(_ record: DumpRecord) throws(TableError) -> Bool { try unsafe contains(bytes: record.key) }
}
