extension Int64: WidenedInteger {}
extension Int32: WidenedInteger {}
extension Int16: WidenedInteger {}
extension Int8: WidenedInteger {}
extension UInt32: WidenedInteger {}
extension UInt16: WidenedInteger {}
extension UInt8: WidenedInteger {}

/// Stored as a struct of its own, 64 bits unsigned: half of its range is no signed integer, so nobody may read it as
/// one or count on it as one. `UInt` is stored the same.
extension UInt64: TableValue {
  @inlinable public static var tableType: ValueType { .structure }
  public static var tableFingerprint: UInt64 { Fingerprint.unsigned }
}

extension UInt: TableValue {
  @inlinable public static var tableType: ValueType { .structure }
  public static var tableFingerprint: UInt64 { Fingerprint.unsigned }
}

/// Stored as the double of the same value, which is always exact. A double that no `Float` equals is `typeMismatch`.
extension Float: TableValue {
  @inlinable public static var tableType: ValueType { .double }
  @inlinable public static var tableAlignmentShift: Int { Double.tableAlignmentShift }
  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe Double(self).withTableBytes(body)
  }
  public init?(tableBytes: UnsafeRawBufferPointer) {
    guard let wide = unsafe Double(tableBytes: tableBytes) else { return nil }
    if wide.isNaN { self = Float(wide) } else { self.init(exactly: wide) }
  }
}

extension Fingerprint {
  /// The stored form of `UInt64`.
  static let unsigned = named("SharedTable.UInt64")
}
