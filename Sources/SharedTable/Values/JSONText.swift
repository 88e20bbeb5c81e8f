/// JSON text, UTF-8, as the type `json` stores it. Not validated: whoever decodes it does that.
public struct JSONText: TableValue, Equatable {
  /// UTF-8.
  public var bytes: [UInt8]

  /// Text as it is.
  public init(bytes: [UInt8]) { self.bytes = bytes }

  @inlinable public static var tableType: ValueType { .json }
  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe bytes.withTableBytes(body)
  }
  public init?(tableBytes: UnsafeRawBufferPointer) { unsafe self.init(bytes: [UInt8](tableBytes)) }
}
