public import TableEngine

/// A collection's own place in its table.
@usableFromInline
struct CollectionPlace: Sendable {
  @usableFromInline let table: Table
  @usableFromInline let name: CollectionName
  let signature: String

  /// The header's numbers; nil if the collection has none yet.
  /// - Throws: `typeMismatch` if the name is another collection's or a value's, `damaged`.
  func header(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> CollectionHeader
    .Numbers?
  {
    let numbers = try name.withOwnKey { key throws(TableError) in
      try section.withEntry(key) { entry throws(TableError) in
        guard Self.isHeader(entry), let numbers = CollectionHeader.numbers(entry.bytes, signature) else {
          throw unreadable(entry)
        }
        return numbers
      }
    }
    return numbers
  }

  /// Whether the collection has a header. Reads no numbers.
  /// - Throws: as ``header(in:)``, but for numbers that cannot be.
  func hasHeader(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> Bool {
    let isOurs = try name.withOwnKey { key throws(TableError) in
      try section.withEntry(key) { entry throws(TableError) in
        guard Self.isHeader(entry), CollectionHeader.isOf(entry.bytes, signature) else { throw unreadable(entry) }
        return true
      }
    }
    return isOurs ?? false
  }

  private static func isHeader(_ entry: borrowing EntryView) -> Bool {
    entry.type == CollectionHeader.tableType && entry.fingerprint == CollectionHeader.tableFingerprint
  }

  /// What is wrong with what lies under the name: it is something else, or no header that can be.
  @inline(never)
  private func unreadable(_ entry: borrowing EntryView) -> TableError {
    guard Self.isHeader(entry) else { return mismatch("a value of type \(entry.type?.name ?? "unknown")") }
    guard let header = entry.value(as: CollectionHeader.self), header.signature != signature else {
      return damaged("its header cannot be read")
    }
    return mismatch(String(header.signature.prefix(200)))
  }

  private func mismatch(_ what: String) -> TableError {
    TableError(
      .typeMismatch, table: table.name, "'\(name.text)' is \(what), not \(signature); use another name")
  }

  func setHeader(_ numbers: CollectionHeader.Numbers, in tx: inout Transaction) throws(TableError) {
    try name.withOwnKey { key throws(TableError) in try tx.set(key, CollectionHeader(signature, numbers)) }
  }

  /// Removes the header and all that lies behind the name, for a collection that does not know its elements any more. Looks at
  /// the whole table.
  func removeDamaged(in tx: inout Transaction) throws(TableError) {
    let keys = try tx.keys(prefix: name.prefix)
    try tx.withSavepoint { tx throws(TableError) in
      for key in keys { try tx.remove(key) }
      try tx.remove(name.text)
    }
  }

  func damaged(_ what: String) -> TableError {
    TableError(
      .damaged, table: table.name,
      "damaged: collection '\(name.text)': \(what); remove the keys '\(name.text)' and '\(name.text)/…', and fill it anew"
    )
  }
}

/// Barriers that change one collection only: they wait for who has locked its name or something below it, and not for who has
/// locked keys of others.
extension CollectionPlace {
  @inlinable
  func withBarrier<R>(
    _ timeout: Duration?, _ body: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    try withReach { reach throws(TableError) in try table.withBarrier(timeout: timeout, reach: reach, body) }
  }

  @inlinable
  func barrier<R>(_ timeout: Duration?, _ body: (inout Transaction) throws -> R) throws -> R {
    try withReach { reach throws in
      try table.beginBarrier(timeout, reach: reach)
      return try table.runBarrier(body)
    }
  }

  @inlinable
  func withReach<R, E: Error>(_ body: (BarrierReach) throws(E) -> R) throws(E) -> R {
    try name.withOwnKey { key throws(E) in try unsafe body(.subtree(key.bytes)) }
  }
}
