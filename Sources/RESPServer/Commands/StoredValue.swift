import SharedTable

/// A value of the table as Redis' clients see it.
struct StoredValue {
  /// Numbers as text; everything else as stored.
  let text: [UInt8]
  let type: ValueType?
  /// Nanoseconds since 1970; nil for never.
  let expiry: UInt64?

  init(_ entry: SeenEntry) {
    type = entry.type
    expiry = entry.expiry
    if let number = entry.number {
      text = Array(number.utf8)
    } else {
      text = unsafe entry.bytes.withUnsafeBytes { unsafe [UInt8]($0) }
    }
  }
}
