public import FoundationEssentials
public import SharedTable

/// Stored as its text, so that `shmctl get` and programs without Foundation read it.
extension UUID: TableValue {
  public static var tableType: ValueType { .string }

  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe uuidString.withTableBytes(body)
  }

  public init?(tableBytes: UnsafeRawBufferPointer) {
    guard let text = unsafe String(tableBytes: tableBytes) else { return nil }
    self.init(uuidString: text)
  }
}

/// Its text, in capitals.
extension UUID: SharedKey {
  public static var keyForm: String { "uuid" }

  public func withElementKey<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe uuidString.withKeyBytes(body)
  }

  /// Nil unless it is the text as this type writes it: small letters would name the same one twice.
  public init?(keyBytes: UnsafeRawBufferPointer) {
    guard let text = unsafe String(keyBytes: keyBytes), let value = UUID(uuidString: text), value.uuidString == text
    else { return nil }
    self = value
  }
}

/// Stored as seconds since 2001 as a double, exactly as a Date holds them; nobody may read it as a mere number.
extension Date: TableValue {
  public static var tableType: ValueType { .double }
  /// "Date2001".
  public static var tableFingerprint: UInt64 { 0x4461_7465_3230_3031 }
  public static var tableAlignmentShift: Int { 3 }

  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe timeIntervalSinceReferenceDate.withTableBytes(body)
  }

  public init?(tableBytes: UnsafeRawBufferPointer) {
    guard let seconds = unsafe Double(tableBytes: tableBytes) else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }
}

/// Stored as bytes: the same as `[UInt8]`.
extension Data: TableValue {
  public static var tableType: ValueType { .bytes }

  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let result: Result<R, E> = unsafe withUnsafeBytes { bytes in
      do throws(E) {
        return .success(try unsafe body(bytes))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  public init?(tableBytes: UnsafeRawBufferPointer) { unsafe self.init(tableBytes) }
}
