import TableEngine

/// A row as it lies in the file, believed only with its checksum. Its bytes are valid until the statement's next step.
@safe
struct Row {
  /// The two tables of rows, by their columns.
  enum Place {
    /// `SELECT * FROM kv`.
    case kv
    /// `SELECT * FROM recent`.
    case recent
  }

  let key: UnsafeRawBufferPointer
  /// Nil: the key was removed.
  let value: UnsafeRawBufferPointer?
  let attributes: ValueAttributes
  let version: UInt64
  /// Of a row of `recent`.
  let sequence: UInt64

  /// - Throws: `damaged`.
  init(_ statement: Statement, of place: Place, _ path: String) throws(StoreError) {
    let first: Int32 = place == .kv ? 0 : 2
    sequence = place == .kv ? 0 : statement.unsigned(0)
    let applied = place == .kv ? 0 : statement.unsigned(1)
    unsafe key = statement.bytes(first)
    unsafe value = statement.isNull(first + 1) ? nil : statement.bytes(first + 1)
    version = statement.unsigned(first + 6)
    let numbers = RowNumbers(
      type: statement.unsigned(first + 2), layout: statement.unsigned(first + 3),
      alignment: statement.unsigned(first + 4), expiry: statement.unsigned(first + 5), version: version,
      applied: applied, sequence: sequence)
    let isWhole = unsafe numbers.checksum(key, value) == statement.unsigned(first + 7)
    guard isWhole, let attributes = numbers.attributes else {
      let name = unsafe String.printableStart(key)
      throw StoreError(
        .damaged, path, "damaged: the row of key '\(name)' does not have its checksum; \(StoreError.moveAway)")
    }
    self.attributes = attributes
  }

  /// Of key and value.
  var byteCount: Int { unsafe key.count + (value?.count ?? 0) }

  /// A copy.
  var entry: StoredEntry {
    unsafe StoredEntry(
      key: [UInt8](key), value: value.map { unsafe [UInt8]($0) }, attributes: attributes, version: version)
  }
}
