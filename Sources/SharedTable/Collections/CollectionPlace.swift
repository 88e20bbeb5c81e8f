public import TableEngine

/// A collection's own place in its table. A class, so that whoever hands it on counts one reference.
@usableFromInline
final class CollectionPlace: Sendable {
  @usableFromInline let table: Table
  @usableFromInline let name: CollectionKeys
  let signature: String
  private let signatureBytes: KeptBytes
  /// Here it is read without a look whether its fingerprint has been computed.
  private let headerForm = StoredForm(of: CollectionHeader.self)
  /// The hash of the header's key.
  private let hash: UInt64

  init(table: Table, name: CollectionKeys, signature: String) {
    self.table = table
    self.name = name
    self.signature = signature
    signatureBytes = KeptBytes(Array(signature.utf8))
    hash = name.withOwnKey { key in unsafe table.segment.hash(key.bytes) }
  }

  deinit { signatureBytes.deallocate() }

  /// The header's numbers; nil if the collection has none yet.
  /// - Throws: `wrongTable`; `typeMismatch` if the name is another collection's or a value's, `damaged`.
  @inline(__always)
  func header(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> CollectionHeader
    .Numbers?
  {
    try table.admit(section, name.text)
    return try numbers(name.withOwnKey { key throws(TableError) in try section.found(key) })
  }

  /// As ``header(in:)``, in a barrier, faster.
  @inline(__always)
  func header(inBarrier tx: borrowing Transaction) throws(TableError) -> CollectionHeader.Numbers? {
    try numbers(findHeader(tx))
  }

  @inline(__always)
  private func numbers(_ found: FoundEntry?) throws(TableError) -> CollectionHeader.Numbers? {
    guard let found else { return nil }
    guard isOurs(found), let numbers = unsafe CollectionHeader.numbers(found.value) else {
      throw unreadable(EntryView(found))
    }
    return numbers
  }

  /// Whether the collection has a header. Reads no numbers.
  /// - Throws: as ``header(in:)``, but for numbers that cannot be.
  @inline(__always)
  func hasHeader(in tx: borrowing Transaction) throws(TableError) -> Bool {
    guard let found = try findHeader(tx) else { return false }
    guard isOurs(found) else { throw unreadable(EntryView(found)) }
    return true
  }

  /// Whether the collection has a header, in a barrier of ``withDirectBarrier(_:quickly:generally:)``. False also where something else has the
  /// name.
  @inline(__always)
  func hasHeader(in barrier: DirectBarrier) -> Bool { barrier.root.map(isOurs) ?? false }

  /// The header's numbers in such a barrier. Nil also where something else has the name, or nothing.
  @inline(__always)
  func numbers(in barrier: DirectBarrier) -> CollectionHeader.Numbers? {
    guard let found = barrier.root, isOurs(found) else { return nil }
    return unsafe CollectionHeader.numbers(found.value)
  }

  /// What lies under the name.
  @inline(__always)
  private func findHeader(_ tx: borrowing Transaction) throws(TableError) -> FoundEntry? {
    // The hash is the key's in this table only.
    try table.admit(tx, name.text)
    return try name.withOwnKey { key throws(TableError) in try unsafe tx.find(key.bytes, hash: hash) }
  }

  /// Is it a header of this signature, whatever its numbers?
  @inline(__always)
  private func isOurs(_ found: FoundEntry) -> Bool {
    found.hasForm(headerForm) && (unsafe CollectionHeader.isOf(found.value, signatureBytes.bytes))
  }

  /// What is wrong with what lies under the name: it is something else, or no header that can be.
  @inline(never)
  private func unreadable(_ entry: borrowing EntryView) -> TableError {
    guard entry.hasForm(of: CollectionHeader.self) else {
      return mismatch("a value of type \(entry.type?.name ?? "unknown")")
    }
    guard let header = entry.value(as: CollectionHeader.self), header.signature != signature else {
      return damaged("its header cannot be read")
    }
    return mismatch(String(header.signature.prefix(200)))
  }

  private func mismatch(_ what: String) -> TableError {
    TableError(
      .typeMismatch, table: table.name, "'\(name.text)' is \(what), not \(signature); use another name")
  }

  /// The collection is whole, and what it holds there no value of this program's type: another program's is of the same form.
  @inline(never)
  func foreign(_ what: String) -> TableError {
    TableError(
      .typeMismatch, table: table.name,
      "the \(what) of '\(name.text)' (\(signature)) is not valid as this program's type; use the type of the program that stored it, "
        + "or replace or remove it with that")
  }

  /// As ``foreign(_:)``, for an element's key.
  @usableFromInline @inline(never)
  func foreignKey(_ bytes: UnsafeRawBufferPointer) -> TableError {
    foreign("key '\(unsafe String.printableStart(bytes))'")
  }

  func setHeader(_ numbers: CollectionHeader.Numbers, in tx: inout Transaction) throws(TableError) {
    let key = unsafe name.ownKey.bytes
    defer { withExtendedLifetime(self) {} }
    try unsafe CollectionHeader.withBytes(of: numbers, signatureBytes.bytes) { bytes throws(TableError) in
      if try unsafe !tx.replace(key, hash: hash, bytes, headerForm) {
        try unsafe tx.store(key, bytes, headerForm, .never)
      }
    }
  }

  /// Removes the header and all that lies behind the name, for a collection that does not know its elements any more. Looks at
  /// the whole table.
  func removeDamaged(in tx: inout Transaction) throws(TableError) {
    let keys = try tx.keys(prefix: name.prefix.array)
    try tx.withSavepoint { tx throws(TableError) in
      for key in keys { try tx.remove(key) }
      try tx.remove(name.text)
    }
  }

  /// What is wrong with a collection whose header has numbers that cannot be together.
  static let contradiction = "its header contradicts itself"

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

  /// See ``Table/withDirectBarrier(below:hash:_:quickly:generally:)``. Its `root` is the header.
  @inline(__always)
  func withDirectBarrier<R>(
    _ timeout: Duration?, quickly: (DirectBarrier) throws(TableError) -> R?,
    generally: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    defer { withExtendedLifetime(self) {} }
    return try unsafe table.withDirectBarrier(
      below: name.ownKey.bytes, hash: hash, timeout, quickly: quickly, generally: generally)
  }

  /// As ``barrier(_:_:)``, for a closure that does nothing but change the table: tried again as ``FullRetry`` says.
  @inlinable
  func repeatableBarrier<R>(_ timeout: Duration?, _ body: (inout Transaction) throws -> R) throws -> R {
    try retryingWhenFull(table.nanoseconds(timeout)) { try barrier(timeout, body) }
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
