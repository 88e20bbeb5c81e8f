public import FoundationEssentials
public import SharedTable

/// Codable values, stored as JSON text of the type `json`: readable by every program and by `shmctl get`.
///
/// Encoding happens before the barrier and decoding after the read, so neither holds anybody up. What a decoder or
/// encoder throws comes out as it is; a value of another type throws `TableError` with `typeMismatch`.
extension Table {
  /// Stores a value as JSON of the type `json`, encoded before the barrier. Blocks as `set(_:_:expires:if:timeout:)` does.
  /// - Returns: whether the condition held and the value was stored.
  /// - Throws: what the encoder throws, and what `set(_:_:expires:if:timeout:)` throws.
  @discardableResult
  public func set(
    _ key: some TableKey, codable value: some Encodable, expires: Expiration = .never,
    if condition: Condition = .always, encoder: JSONEncoder = JSONEncoder(), timeout: Duration? = nil
  ) throws -> Bool {
    try set(
      key, bytes: [UInt8](encoder.encode(value)), type: .json, expires: expires, if: condition, timeout: timeout)
  }

  /// Stores a value as JSON of the type `json`; see the form that blocks. The task encodes the value itself, and suspends where that form blocks.
  /// - Returns: whether the condition held and the value was stored.
  /// - Throws: what that form throws; `CancellationError` if the task was cancelled before the write began.
  @discardableResult
  nonisolated(nonsending) public func set(
    _ key: some TableKey & Sendable, codable value: some Encodable, expires: Expiration = .never,
    if condition: Condition = .always, encoder: JSONEncoder = JSONEncoder(), timeout: Duration? = nil
  ) async throws -> Bool {
    try await set(
      key, bytes: [UInt8](encoder.encode(value)), type: .json, expires: expires, if: condition, timeout: timeout)
  }

  /// The value of a key, decoded from JSON after the read; nil if absent or expired. Waits as `get(_:as:)` does.
  /// - Throws: what the decoder throws; `typeMismatch` if the value is no `json`; what else `get(_:as:)` throws.
  public func get<T: Decodable>(
    _ key: some TableKey, codable type: T.Type, decoder: JSONDecoder = JSONDecoder()
  ) throws -> T? {
    try get(key, as: JSONText.self).map { try decoder.decode(type, from: Data($0.bytes)) }
  }
}

extension Transaction {
  /// Stores a value as JSON, as part of the barrier. The encoder runs in the barrier: others wait for it.
  /// - Throws: what the encoder throws, and what `set(_:_:expires:)` throws.
  public mutating func set(
    _ key: some TableKey, codable value: some Encodable, expires: Expiration = .never,
    encoder: JSONEncoder = JSONEncoder()
  ) throws {
    try set(key, JSONText(bytes: [UInt8](encoder.encode(value))), expires: expires)
  }

  /// Stores a value as JSON, as part of the barrier, if a condition holds. The encoder runs in any case.
  /// - Returns: whether it held and the value was stored.
  /// - Throws: what the encoder throws, and what `set(_:_:expires:if:)` throws.
  @discardableResult
  public mutating func set(
    _ key: some TableKey, codable value: some Encodable, expires: Expiration = .never,
    if condition: Table.Condition, encoder: JSONEncoder = JSONEncoder()
  ) throws -> Bool {
    try set(key, JSONText(bytes: [UInt8](encoder.encode(value))), expires: expires, if: condition)
  }

  /// The value of a key as this barrier sees it, decoded from JSON; nil if absent or expired.
  /// - Throws: what the decoder throws; `typeMismatch` if the value is no `json`.
  public func get<T: Decodable>(
    _ key: some TableKey, codable type: T.Type, decoder: JSONDecoder = JSONDecoder()
  ) throws -> T? {
    try get(key, as: JSONText.self).map { try decoder.decode(type, from: Data($0.bytes)) }
  }
}

extension ReadView {
  /// The value of a key in this view, decoded from JSON; nil if absent or expired. Never waits.
  /// - Throws: what the decoder throws; `typeMismatch` if the value is no `json`; what else `get(_:as:)` throws.
  public func get<T: Decodable>(
    _ key: some TableKey, codable type: T.Type, decoder: JSONDecoder = JSONDecoder()
  ) throws -> T? {
    try get(key, as: JSONText.self).map { try decoder.decode(type, from: Data($0.bytes)) }
  }
}
