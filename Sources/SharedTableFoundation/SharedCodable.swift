import FoundationEssentials
public import SharedTable

/// A Codable type whose values tables and collections hold as they are. One line makes it one:
///
/// ```swift
/// struct Account: Codable, SharedCodable {
///   var name: String
///   var roles: [String]
/// }
///
/// try table.set("ann", Account(name: "Ann", roles: []))
/// let accounts = try SharedDictionary<String, Account>("accounts", in: table)
/// ```
///
/// Stored as JSON text of the type `json`, like ``Coded`` and ``SharedTable/Table/set(_:codable:expires:if:encoder:timeout:)`` do, so each
/// reads the others' values, and so does `shmctl`. The keys are sorted: a value has the same bytes in every process. Only what a `Set` holds,
/// and a `Dictionary` whose keys are neither `String` nor `Int`, comes in another order in each. Infinities and NaN are the strings
/// `"inf"`, `"-inf"` and `"nan"`, which the other two read as strings alone.
///
/// Programs of two releases share a type as JSON allows it: a field that one does not know is passed over, and one that is missing must be
/// optional. Other text is `typeMismatch`.
///
/// A value is encoded when it is written. That is before the barrier for `Table.set`, for a cache, for `set` of a dictionary and for `append`
/// and `set` of an array; their `await` forms may encode inside the barrier, but for a cache's, and then on a thread of the library, where
/// task-local values are not the caller's. It is inside the barrier for a transaction, for a `SharedValue`, and for a collection's other changes
/// (`merge`, `insert`, `mutate`), where it holds up all writers of the table for some microseconds; ``Coded`` is encoded before. A
/// value whose `encode(to:)` throws is not stored: the write throws `invalid`, with what that said. The value knows no table, so the error names `*`.
///
/// A value is decoded where it lies in the table, inside the read: in the RCU variant old versions stay meanwhile, and in the rwlock variant writers
/// wait, if the value is longer than a kibibyte. ``SharedTable/Table/get(_:codable:decoder:)`` decodes afterwards. An `init(from:)` that
/// writes the table fails, and with it the read.
///
/// An enum with a raw value needs none of this: it is a `TableValue` by its raw value.
public protocol SharedCodable: Codable, TableValue {}

extension SharedCodable {
  public static var tableType: ValueType { .json }

  /// Encodes the value, and calls `body` with the JSON.
  /// - Precondition: `body` may throw a `TableError`, as those of tables and collections do, or the value can be encoded.
  public func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let json: [UInt8]
    do {
      json = try CodableForm.encode(self)
    } catch {
      let refusal = TableError(.invalid, table: "*", "a value of type '\(Self.self)' does not become JSON: \(error)")
      // Whatever writes to a table throws errors of tables.
      guard let refusal = refusal as? E else { preconditionFailure("\(refusal)") }
      throw refusal
    }
    return try unsafe json.withTableBytes(body)
  }

  public init?(tableBytes: UnsafeRawBufferPointer) {
    guard let value = unsafe try? CodableForm.decode(Self.self, tableBytes) else { return nil }
    self = value
  }
}

/// How a ``SharedCodable`` is JSON.
private enum CodableForm {
  private static let (infinity, negativeInfinity, nan) = ("inf", "-inf", "nan")

  static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: nan)
    return [UInt8](try encoder.encode(value))
  }

  static func decode<T: Decodable>(_ type: T.Type, _ bytes: UnsafeRawBufferPointer) throws -> T {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: nan)
    return try decoder.decode(type, from: unsafe Data(bytes))
  }
}
