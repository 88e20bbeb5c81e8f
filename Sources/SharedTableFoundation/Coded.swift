public import FoundationEssentials
public import SharedTable

/// A Codable value for tables and collections: `SharedDictionary<String, Coded<Account>>`.
///
/// Stored as JSON text of the type `json`, like ``SharedTable/Table/set(_:codable:expires:if:encoder:timeout:)`` does, so both
/// read each other's values. It is encoded when it is made, outside any barrier, and decoded when it is read; text that
/// does not decode is `typeMismatch`.
///
/// ```swift
/// try accounts.set("ann", Coded(Account(name: "Ann")))
/// let account = try accounts["ann"]?.value
/// ```
public struct Coded<Value: Codable & Sendable>: TableValue {
  /// The value, decoded.
  public let value: Value
  /// The value as JSON.
  public let json: [UInt8]

  /// Encodes the value, once: storing it takes the bytes as they are.
  /// - Parameter encoder: one whose text a `JSONDecoder()` decodes, as a read does: with another strategy for dates, data or keys
  ///   the value would be stored, and each read of it throw `typeMismatch`.
  /// - Throws: what the value's encoding throws.
  public init(_ value: Value, encoder: JSONEncoder = JSONEncoder()) throws {
    self.value = value
    json = [UInt8](try encoder.encode(value))
  }

  /// `json`.
  public static var tableType: ValueType { .json }

  /// Calls `body` with ``json``.
  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe json.withTableBytes(body)
  }

  /// Decodes JSON text, of which it keeps a copy; nil if it does not decode.
  public init?(tableBytes: UnsafeRawBufferPointer) {
    json = unsafe [UInt8](tableBytes)
    guard let value = try? JSONDecoder().decode(Value.self, from: Data(json)) else { return nil }
    self.value = value
  }
}

extension Coded: Equatable where Value: Equatable {
  /// By value: the same value may have been encoded in another way.
  public static func == (left: Self, right: Self) -> Bool { left.value == right.value }
}
