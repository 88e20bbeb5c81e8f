/// An optional as a value: a stored nil is something else than an absent key.
///
/// Stored as a struct: the wrapped value's bytes, then a byte 1; nil is the byte 0 alone. The fingerprint is made of the
/// wrapped type's, so that `Int?` is read as nothing but `Int?`: an `Int` reader finds `typeMismatch`.
extension Optional: TableValue where Wrapped: TableValue {
  public static var tableType: ValueType { .structure }
  public static var tableFingerprint: UInt64 {
    let wrapped = Wrapped.tableFingerprint ^ UInt64(Wrapped.tableType.rawValue) &* 0x9e37_79b9_7f4a_7c15
    return (wrapped ^ 0x6f70_7469_6f6e_616c) &* 0x0000_0100_0000_01b3 | 1
  }
  public static var tableAlignmentShift: Int { Wrapped.tableAlignmentShift }

  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    guard let value = self else { return try unsafe [UInt8](arrayLiteral: 0).withTableBytes(body) }
    var bytes = unsafe value.withTableBytes { bytes in unsafe [UInt8](bytes) }
    bytes.append(1)
    return try unsafe bytes.withTableBytes(body)
  }

  public init?(tableBytes: UnsafeRawBufferPointer) {
    guard let mark = unsafe tableBytes.last else { return nil }
    if mark == 0, tableBytes.count == 1 {
      self = .none
      return
    }
    guard mark == 1, let value = unsafe Wrapped(tableBytes: UnsafeRawBufferPointer(rebasing: tableBytes.dropLast()))
    else { return nil }
    self = .some(value)
  }
}
