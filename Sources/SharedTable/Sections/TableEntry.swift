import TableEngine

/// A value with what is stored beside it.
public struct TableEntry: Sendable, Equatable {
  /// The bytes as they are stored.
  public let bytes: [UInt8]
  /// Nil for a type that this release does not know.
  public let type: ValueType?
  /// The version of the barrier that stored it.
  public let version: UInt64
  /// Nanoseconds since 1970; nil for never.
  public let expiry: UInt64?

  @usableFromInline
  init(_ found: FoundEntry) {
    bytes = unsafe [UInt8](found.value)
    type = ValueType(rawValue: found.meta.type)
    version = found.version
    expiry = found.meta.hasExpiry ? found.expiry : nil
  }
}
