/// A type whose values a table can hold.
public protocol TableValue: Sendable {
  /// The type that is stored beside the bytes.
  static var tableType: ValueType { get }
  /// Distinguishes layouts or schemas of one type; 0 where there is only one.
  static var tableFingerprint: UInt64 { get }
  /// Base-2 logarithm of the alignment that the stored bytes need; 0 where they are only copied. More than 4 counts as 4: they are aligned to 16
  /// bytes at most.
  static var tableAlignmentShift: Int { get }
  /// Calls `body` with the bytes to store, valid during the call.
  ///
  /// A value that cannot be written throws a `TableError` with the code `invalid` instead: whatever writes to a table throws such.
  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R
  /// A value from stored bytes of its type and fingerprint; nil if they are none.
  init?(tableBytes: UnsafeRawBufferPointer)
}

extension TableValue {
  @inlinable public static var tableFingerprint: UInt64 { 0 }
  @inlinable public static var tableAlignmentShift: Int { 0 }
}

extension Array: TableValue where Element == UInt8 {
  @inlinable public static var tableType: ValueType { .bytes }
  @inlinable
  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe withKeyBytes(body)
  }
  @inlinable public init?(tableBytes: UnsafeRawBufferPointer) { unsafe self.init(tableBytes) }
}

extension String: TableValue {
  @inlinable public static var tableType: ValueType { .string }
  @inlinable
  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe withKeyBytes(body)
  }
  /// Nil for bytes that are not UTF-8.
  @inlinable
  public init?(tableBytes: UnsafeRawBufferPointer) {
    // Not `init(validating:as:)`: unspecialized for raw bytes, it looks up metadata on every call.
    let bytes = unsafe tableBytes.assumingMemoryBound(to: UInt8.self)
    guard let utf8 = try? unsafe UTF8Span(validating: bytes.span) else { return nil }
    self.init(copying: utf8)
  }
}

/// Not aligned: it is read by copying its bytes, and without padding behind its key the quick reads take it.
extension Int: TableValue {
  @inlinable public static var tableType: ValueType { .integer }
  @inlinable public static var tableAlignmentShift: Int { 0 }
}

/// Not aligned, as `Int`.
extension Double: TableValue {
  @inlinable public static var tableType: ValueType { .double }
  @inlinable public static var tableAlignmentShift: Int { 0 }
}

/// Numbers: their bytes are the value, and any bytes of their size are one. A type of a program's own that is `Numeric` gets this form too: it must
/// have no padding, and no field of which some bytes are no value, such as a `Bool`. A ``SharedStruct`` may have both.
extension TableValue where Self: Numeric & BitwiseCopyable {
  @inlinable public static var tableAlignmentShift: Int { MemoryLayout<Self>.alignment.trailingZeroBitCount }

  @inlinable
  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe withUnsafeBytes(of: self) { bytes throws(E) in try unsafe body(bytes) }
  }

  @inlinable
  public init?(tableBytes: UnsafeRawBufferPointer) {
    guard tableBytes.count == MemoryLayout<Self>.size else { return nil }
    self = unsafe tableBytes.loadUnaligned(as: Self.self)
  }
}

extension Bool: TableValue {
  @inlinable public static var tableType: ValueType { .bool }
  @inlinable
  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe withUnsafeBytes(of: self) { bytes throws(E) in try unsafe body(bytes) }
  }
  /// Nil for a byte that is neither 0 nor 1: loading such a byte as Bool would be undefined.
  @inlinable
  public init?(tableBytes: UnsafeRawBufferPointer) {
    guard tableBytes.count == 1, unsafe tableBytes[0] <= 1 else { return nil }
    self = unsafe tableBytes[0] == 1
  }
}
