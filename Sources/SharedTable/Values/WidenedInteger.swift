/// Integers that are stored as an `Int`, 64 bits and signed: programs that chose different widths, and shmctl, read each
/// other's numbers. One that does not fit the type asked for is `typeMismatch`, and never cut off.
public protocol WidenedInteger: TableValue, FixedWidthInteger, BitwiseCopyable {}

extension WidenedInteger {
  @inlinable public static var tableType: ValueType { .integer }
  @inlinable public static var tableAlignmentShift: Int { Int.tableAlignmentShift }

  @inlinable
  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe Int(self).withTableBytes(body)
  }

  @inlinable
  public init?(tableBytes: UnsafeRawBufferPointer) {
    guard let wide = unsafe Int(tableBytes: tableBytes) else { return nil }
    self.init(exactly: wide)
  }
}
