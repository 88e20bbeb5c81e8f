import TableEngine

extension FoundEntry {
  /// Is the value of this type and layout? Its bytes may be invalid nevertheless.
  @inlinable @inline(__always)
  func hasForm<T: TableValue>(of _: T.Type) -> Bool {
    meta.type == T.tableType.rawValue && fingerprint == T.tableFingerprint
  }

  /// As ``hasForm(of:)``, for a form that the caller keeps: a type's fingerprint may be a global, and each use of one looks whether it has been
  /// computed.
  @inline(__always)
  func hasForm(_ form: StoredForm) -> Bool {
    meta.type == form.type.rawValue && fingerprint == form.fingerprint
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

extension ValueAttributes {
  /// As ``FoundEntry/hasForm(_:)``, for a value that lies in no table.
  func hasForm(_ form: StoredForm) -> Bool { type == form.type.rawValue && fingerprint == form.fingerprint }
}
