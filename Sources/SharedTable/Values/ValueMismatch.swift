public import TableEngine

/// Why stored bytes are no value of the type asked for.
@usableFromInline
struct ValueMismatch: Error {
  @usableFromInline let stored: UInt8
  @usableFromInline let wanted: ValueType
  @usableFromInline let layout: Bool

  @usableFromInline
  init(stored: UInt8, wanted: ValueType, layout: Bool) {
    self.stored = stored
    self.wanted = wanted
    self.layout = layout
  }

  var reason: String {
    if layout { return "has another layout than this program's \(wanted.name); migrate it in one barrier" }
    let stored = ValueType(rawValue: self.stored)?.name ?? "unknown type \(self.stored)"
    if stored == wanted.name { return "is of type \(stored), but its bytes are not valid as such; store it anew" }
    return "is of type \(stored), not \(wanted.name); read it as that type, or store it anew"
  }
}

/// Reads a value as a type, or says why it is none.
@inlinable @inline(__always)
func decode<T: TableValue>(_ found: FoundEntry, as type: T.Type) -> Result<T, ValueMismatch> {
  if found.meta.type != T.tableType.rawValue {
    return .failure(ValueMismatch(stored: found.meta.type, wanted: T.tableType, layout: false))
  }
  if found.fingerprint != T.tableFingerprint {
    return .failure(ValueMismatch(stored: found.meta.type, wanted: T.tableType, layout: true))
  }
  guard let value = unsafe T(tableBytes: found.value) else {
    return .failure(ValueMismatch(stored: found.meta.type, wanted: T.tableType, layout: false))
  }
  return .success(value)
}
