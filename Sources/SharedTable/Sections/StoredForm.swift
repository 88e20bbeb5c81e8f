import TableEngine

/// What is stored beside a value's bytes.
@usableFromInline
struct StoredForm: Sendable {
  @usableFromInline let type: ValueType
  @usableFromInline let fingerprint: UInt64
  @usableFromInline let alignmentShift: Int

  @inlinable
  init<T: TableValue>(of _: T.Type) {
    type = T.tableType
    fingerprint = T.tableFingerprint
    alignmentShift = T.tableAlignmentShift
  }

  init(type: ValueType) {
    self.type = type
    fingerprint = 0
    alignmentShift = 0
  }
}
