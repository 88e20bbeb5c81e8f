/// What a stored value is, kept beside its bytes: reading it as another is an error, never a reinterpretation.
@frozen
public enum ValueType: UInt8, Sendable, CaseIterable {
  /// Any bytes.
  case bytes = 1
  /// UTF-8.
  case string = 2
  /// 64 bits, signed, the machine's byte order.
  case integer = 3
  /// IEEE 754, 64 bits.
  case double = 4
  /// One byte, 0 or 1.
  case bool = 5
  /// JSON text of a Codable value, by way of the product SharedTableFoundation.
  case json = 6
  /// A `BitwiseCopyable` struct, with its layout's fingerprint: see ``SharedStruct``.
  case structure = 7

  /// As `shmctl` writes it.
  public var name: String {
    switch self {
    case .bytes: "bytes"
    case .string: "string"
    case .integer: "integer"
    case .double: "double"
    case .bool: "bool"
    case .json: "json"
    case .structure: "struct"
    }
  }
}
