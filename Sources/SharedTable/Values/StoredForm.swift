import TableEngine

/// What is stored beside a value's bytes.
@usableFromInline
struct StoredForm: Sendable {
  @usableFromInline let type: ValueType
  @usableFromInline let fingerprint: UInt64
  /// 0 to 4: blocks are aligned to 16 bytes, so a value is to no more.
  @usableFromInline let alignmentShift: Int

  @inlinable
  init<T: TableValue>(of _: T.Type) {
    type = T.tableType
    fingerprint = T.tableFingerprint
    alignmentShift = max(0, min(4, T.tableAlignmentShift))
  }

  init(type: ValueType) {
    self.type = type
    fingerprint = 0
    alignmentShift = 0
  }

  init(structure fingerprint: UInt64) {
    type = .structure
    self.fingerprint = fingerprint
    alignmentShift = 0
  }

  /// Nothing but a type. Known to the caller's compiler, mostly.
  @inlinable @inline(__always)
  var isPlain: Bool { fingerprint == 0 && alignmentShift == 0 }

  /// - Parameter expiry: nanoseconds since 1970; 0: it does not expire.
  @inline(__always)
  func attributes(expiry: UInt64) -> ValueAttributes {
    ValueAttributes(
      type: type.rawValue, expiry: expiry, fingerprint: fingerprint, alignmentShift: alignmentShift)
  }
}
