import CShims
import TableEngine

/// One row: what is under a key as of a version, or that nothing is.
struct StoredEntry {
  var key: [UInt8]
  /// Nil: the key was removed.
  var value: [UInt8]?
  var attributes: ValueAttributes
  /// Of the barrier that stored the value.
  var version: UInt64

  init(key: [UInt8], value: [UInt8]?, attributes: ValueAttributes, version: UInt64) {
    (self.key, self.value, self.attributes, self.version) = (key, value, attributes, version)
  }

  /// Of key and value.
  var byteCount: UInt64 { UInt64(key.count + (value?.count ?? 0)) }

  init(key: [UInt8], found: FoundEntry?) {
    self.key = key
    guard let found else {
      (value, version) = (nil, 0)
      attributes = ValueAttributes()
      return
    }
    value = unsafe [UInt8](found.value)
    attributes = found.attributes
    version = found.version
  }
}

/// The numbers of a row, which its checksum covers with its key and value.
struct RowNumbers {
  var type: UInt64
  var layout: UInt64
  var alignment: UInt64
  var expiry: UInt64
  var version: UInt64
  /// Of a row of `recent`: up to which version the store is whole with it. 0 in `kv`.
  var applied: UInt64
  /// Of a row of `recent`; 0 in `kv`.
  var sequence: UInt64

  init(_ entry: StoredEntry, applied: UInt64, sequence: UInt64) {
    (type, layout) = (UInt64(entry.attributes.type), entry.attributes.fingerprint)
    alignment = UInt64(entry.attributes.alignmentShift)
    (expiry, version) = (entry.attributes.expiry, entry.version)
    (self.applied, self.sequence) = (applied, sequence)
  }

  init(
    type: UInt64, layout: UInt64, alignment: UInt64, expiry: UInt64, version: UInt64, applied: UInt64, sequence: UInt64
  ) {
    (self.type, self.layout, self.alignment, self.expiry) = (type, layout, alignment, expiry)
    (self.version, self.applied, self.sequence) = (version, applied, sequence)
  }

  /// XXH3 over all that the row says. A row that was moved into another place of `recent` does not have it either.
  func checksum(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) -> UInt64 {
    let numbers: InlineArray<9, UInt64> = [
      type, layout, alignment, expiry, version, applied, sequence, UInt64(key.count),
      unsafe value.map { UInt64($0.count) } ?? .max,
    ]
    var sum = unsafe numbers.span.withUnsafeBytes { unsafe shm_hash_long($0.baseAddress!, $0.count, 0) }
    if let base = key.baseAddress, key.count > 0 { sum = unsafe shm_hash(base, key.count, sum) }
    // SQLite gives no address for an empty value.
    if let value = unsafe value, let base = value.baseAddress, value.count > 0 {
      sum = unsafe shm_hash(base, value.count, sum)
    }
    return sum
  }

  var attributes: ValueAttributes? {
    guard let type = UInt8(exactly: type), alignment <= 4 else { return nil }
    return ValueAttributes(type: type, expiry: expiry, fingerprint: layout, alignmentShift: Int(alignment))
  }
}
