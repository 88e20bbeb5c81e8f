public import FoundationEssentials
public import SharedTable

/// Codable values, stored as JSON text of the type `json`: readable by every program and by `shmctl get`.
///
/// Encoding happens before the barrier and decoding after the read, so neither holds anybody up. What a decoder or
/// encoder throws comes out as it is; a value of another type throws `TableError` with `typeMismatch`.
extension Table {
  /// Stores a value as JSON. Waits and throws as ``Table/set(_:_:expires:if:timeout:)`` does.
  /// - Returns: whether the condition held and the value was stored.
  @discardableResult
  public func set(
    _ key: some TableKey, codable value: some Encodable, expires: Expiration = .never,
    if condition: Condition = .always, encoder: JSONEncoder = JSONEncoder(), timeout: Duration? = nil
  ) throws -> Bool {
    try set(
      key, bytes: [UInt8](encoder.encode(value)), type: .json, expires: expires, if: condition, timeout: timeout)
  }

  /// The value of a key, decoded from JSON; nil if absent or expired.
  public func get<T: Decodable>(
    _ key: some TableKey, codable type: T.Type, decoder: JSONDecoder = JSONDecoder()
  ) throws -> T? {
    try get(key, as: JSONText.self).map { try decoder.decode(type, from: Data($0.bytes)) }
  }
}

extension Transaction {
  /// Stores a value as JSON, as part of the barrier.
  public mutating func set(
    _ key: some TableKey, codable value: some Encodable, expires: Expiration = .never,
    encoder: JSONEncoder = JSONEncoder()
  ) throws {
    try set(key, JSONText(bytes: [UInt8](encoder.encode(value))), expires: expires)
  }

  /// Stores a value as JSON, as part of the barrier, if a condition holds.
  /// - Returns: whether it held and the value was stored.
  @discardableResult
  public mutating func set(
    _ key: some TableKey, codable value: some Encodable, expires: Expiration = .never,
    if condition: Table.Condition, encoder: JSONEncoder = JSONEncoder()
  ) throws -> Bool {
    try set(key, JSONText(bytes: [UInt8](encoder.encode(value))), expires: expires, if: condition)
  }

  /// The value of a key as this barrier sees it, decoded from JSON.
  public func get<T: Decodable>(
    _ key: some TableKey, codable type: T.Type, decoder: JSONDecoder = JSONDecoder()
  ) throws -> T? {
    try get(key, as: JSONText.self).map { try decoder.decode(type, from: Data($0.bytes)) }
  }
}

extension ReadView {
  /// The value of a key in this view, decoded from JSON.
  public func get<T: Decodable>(
    _ key: some TableKey, codable type: T.Type, decoder: JSONDecoder = JSONDecoder()
  ) throws -> T? {
    try get(key, as: JSONText.self).map { try decoder.decode(type, from: Data($0.bytes)) }
  }
}
