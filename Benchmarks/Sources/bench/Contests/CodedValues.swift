import FoundationEssentials
import SharedTable
import SharedTableFoundation

/// One value of six fields in three forms: as it lies in memory, as JSON, and as a binary property list.
func codedValuesContest() throws -> Contest {
  let table = try Table.temporary()
  /// Gets and sets of one key.
  func contestants<Value: SampleValue>(_ name: String, _ type: Value.Type) throws -> [Contestant] {
    let key = name.filter { $0 != " " }
    try table.set(key, Value(fields: SampleFields()))
    return [
      Contestant("\(name), get") { _ in
        for _ in 0..<callsPerRound {
          guard let value = try table.get(key, as: Value.self), value.fields.serial == 1 else {
            throw Failure("\(name): the value is missing")
          }
        }
        return callsPerRound
      },
      Contestant("\(name), set") { _ in
        for _ in 0..<callsPerRound { try table.set(key, Value(fields: SampleFields())) }
        return callsPerRound
      },
    ]
  }
  return Contest(
    name: "coded-values", work: "one value of six fields", reference: "SharedStruct, get",
    contestants: try contestants("SharedStruct", SampleStruct.self) + contestants("JSON", SampleAsJSON.self)
      + contestants("binary property list", SampleAsPropertyList.self))
}

/// Few, for to decode one value takes some thousand nanoseconds.
private let callsPerRound = 2000

private struct SampleFields: Codable, BitwiseCopyable, Sendable {
  var serial = 1
  var count: Int32 = 42
  var isOpen = true
  var time = 1_700_000_000.25
  var x = 0.5
  var y = -0.125
}

private protocol SampleValue: TableValue {
  var fields: SampleFields { get }
  init(fields: SampleFields)
}

private struct SampleStruct: SharedStruct, SampleValue {
  static let schemaName = "bench.sample"
  var fields: SampleFields
}

private struct SampleAsJSON: SharedCodable, SampleValue {
  var fields: SampleFields
}

private struct SampleAsPropertyList: Codable, SampleValue {
  var fields: SampleFields

  static var tableType: ValueType { .bytes }

  init(fields: SampleFields) { self.fields = fields }

  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    guard let bytes = try? [UInt8](encoder.encode(self)) else { preconditionFailure("six numbers are not encoded") }
    return try unsafe bytes.withTableBytes(body)
  }

  init?(tableBytes: UnsafeRawBufferPointer) {
    let data = unsafe Data(tableBytes)
    guard let value = try? PropertyListDecoder().decode(Self.self, from: data) else { return nil }
    self = value
  }
}
