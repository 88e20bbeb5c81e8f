import TableEngine

extension FoundEntry {
  /// Is the value of this type and layout? Its bytes may be invalid nevertheless.
  @inlinable @inline(__always)
  func hasForm<T: TableValue>(of _: T.Type) -> Bool {
    meta.type == T.tableType.rawValue && fingerprint == T.tableFingerprint
  }

  /// The same for a form that the caller keeps: a type's fingerprint may be a global, and each use of one looks whether it has been computed.
  @inline(__always)
  func hasForm(_ form: StoredForm) -> Bool {
    meta.type == form.type.rawValue && fingerprint == form.fingerprint
  }
}

extension ValueAttributes {
  /// The same of a value that lies in no table.
  func hasForm(_ form: StoredForm) -> Bool { type == form.type.rawValue && fingerprint == form.fingerprint }
}
