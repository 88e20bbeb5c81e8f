/// A type with a raw value is stored as that: `enum Color: String, TableValue { case red, green }`, and nothing more.
///
/// Programs, and shmctl, that know only the raw value's type read and write it too. A raw value that the type does not
/// know is `typeMismatch`.
extension TableValue where Self: RawRepresentable, RawValue: TableValue {
  @inlinable public static var tableType: ValueType { RawValue.tableType }
  @inlinable public static var tableFingerprint: UInt64 { RawValue.tableFingerprint }
  @inlinable public static var tableAlignmentShift: Int { RawValue.tableAlignmentShift }

  @inlinable
  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe rawValue.withTableBytes(body)
  }

  @inlinable
  public init?(tableBytes: UnsafeRawBufferPointer) {
    guard let rawValue = unsafe RawValue(tableBytes: tableBytes) else { return nil }
    self.init(rawValue: rawValue)
  }
}
