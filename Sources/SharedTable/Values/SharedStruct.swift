/// A `BitwiseCopyable` struct that processes share as it lies in memory.
///
/// ```swift
/// struct Sample: SharedStruct {
///   static let schemaName = "com.example.sample"
///   var time: UInt64
///   var value: Double
/// }
/// ```
/// Two programs that declare the same schema name and the same fields (names, order, types, layout) share the
/// type. Any difference changes the fingerprint, and reading the other's values throws `typeMismatch`: migrate them in
/// one barrier, reading with the old struct and writing with the new one. `Int32` and `UInt32` are two types, and so are `Int` and
/// `Int64`.
///
/// A field may be a number, a `Bool`, a `Unicode.Scalar`, an enum without associated values that is `CaseIterable`, an
/// optional of one of these, a tuple, an `InlineArray` or a struct of fields. Where not every pattern of bits is a value, as
/// in a `Bool` or an enum, a read looks at the bits first, whoever stored them: others than a value's are `typeMismatch`.
/// An enum's cases are part of the fingerprint, by their names in the source, so a program that knows a case more has another layout. `allCases`
/// must have all of them: a value of a case that it leaves out is stored, and read by nobody.
///
/// Bytes between fields are stored as zeros: as they lie in memory, they hold what another variable left there.
///
/// Any other field ends the process when the type is first used, with a line that says which and why: a pointer means nothing
/// in another process, and bits of an enum whose cases are not listed cannot be checked.
public protocol SharedStruct: TableValue, BitwiseCopyable {
  /// Names the type across programs: module and type names differ between executables.
  static var schemaName: String { get }
}

extension SharedStruct {
  /// `structure`.
  @inlinable public static var tableType: ValueType { .structure }
  /// Of schema name, size, alignment and fields; never 0.
  @inlinable public static var tableFingerprint: UInt64 { StructLayouts.fingerprint(of: Self.self) }

  /// The struct's own: it may be read in place.
  @inlinable public static var tableAlignmentShift: Int { MemoryLayout<Self>.alignment.trailingZeroBitCount }

  @inlinable @inline(__always)
  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    // Of a type of no bytes the optimiser makes a buffer at any address and with any count, where a closure gets it that throws one type of
    // error.
    if MemoryLayout<Self>.size == 0 { return try unsafe body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    var copy = self
    return try unsafe withUnsafeMutableBytes(of: &copy) { bytes throws(E) in
      unsafe StructLayouts.clearPadding(bytes, of: Self.self)
      return try unsafe body(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Nil for bytes of another size, and for those that are no value of a field.
  @inlinable
  public init?(tableBytes: UnsafeRawBufferPointer) {
    guard tableBytes.count == MemoryLayout<Self>.size, unsafe StructLayouts.accept(tableBytes, as: Self.self) else {
      return nil
    }
    self = unsafe tableBytes.loadUnaligned(as: Self.self)
  }
}
