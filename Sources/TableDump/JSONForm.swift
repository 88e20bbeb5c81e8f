import SharedTable
import TableEngine
package import ToolSupport

/// A record as a line of JSON, and back: see DESIGN.md.
package enum JSONForm {
  static let version: UInt64 = 1
  static let name = "shmtable"

  /// Adds the value's type, the value, and what is stored beside it.
  package static func add(_ record: DumpRecord, to object: inout JSONObject) {
    let attributes = record.attributes
    if let type = ValueType(rawValue: attributes.type) {
      object.add("type", type.name)
    } else {
      object.add("type", attributes.type)
    }
    let bytes = record.valueBytes
    // A fingerprint says that the bytes are some program's own form, whatever type they go by.
    if attributes.fingerprint == 0, let text = plain(bytes, attributes.type) {
      object.add("value", raw: text)
    } else {
      object.addBase64("value", bytes)
    }
    if attributes.expiry != 0 { object.add("expiryNanoseconds", attributes.expiry) }
    if attributes.fingerprint != 0 { object.add("fingerprint", attributes.fingerprint) }
    if attributes.alignmentShift != 0 { object.add("alignmentShift", attributes.alignmentShift) }
  }

  /// JSON for a value, if what it is read back as is the same bytes.
  private static func plain(_ bytes: [UInt8], _ type: UInt8) -> [UInt8]? {
    unsafe bytes.withUnsafeBytes { stored -> [UInt8]? in
      switch ValueType(rawValue: type) {
      case .string, .json:
        String(validating: bytes, as: UTF8.self).map { ToolSupport.JSONText.quoted($0) }
      case .integer: unsafe Int(tableBytes: stored).map { Array(String($0).utf8) }
      case .bool: unsafe Bool(tableBytes: stored).map { Array(String($0).utf8) }
      case .double:
        unsafe Double(tableBytes: stored).flatMap { $0.isFinite ? Array(String($0).utf8) : nil }
      default: nil
      }
    }
  }

  /// The key, value and attributes of a line; says what is wrong with it.
  package static func record(
    _ fields: JSONFields, known: Swift.Set<String> = names
  ) throws(Wrong) -> (key: [UInt8], value: [UInt8], attributes: ValueAttributes, version: UInt64) {
    for name in fields.names where !known.contains(name) {
      throw Wrong("'\(name.printable)' is no part of a record; leave it out")
    }
    guard let key = fields.bytes("key"), Table.keyLengths.contains(key.count) else {
      throw Wrong("a record needs 'key' or 'keyBase64', of 1 to \(Table.keyLengths.upperBound) bytes")
    }
    var attributes = ValueAttributes()
    let value = try value(fields, &attributes.type)
    attributes.expiry = try number(fields, "expiryNanoseconds", 0)
    attributes.fingerprint = try number(fields, "fingerprint", 0)
    let shift = try number(fields, "alignmentShift", 0)
    guard shift <= 4 else { throw Wrong("'alignmentShift' is at most 4") }
    attributes.alignmentShift = Int(shift)
    return (key, value, attributes, try number(fields, "version", 0))
  }

  /// The members of a dump's first line, and of a record.
  static let headerNames: Swift.Set<String> = [
    "dump", "format", "table", "variant", "capacityBytes", "version", "takenNanoseconds", "keyCount", "prefix",
    "prefixBase64",
  ]
  package static let names: Swift.Set<String> = [
    "key", "keyBase64", "type", "value", "valueBase64", "expiryNanoseconds", "fingerprint", "alignmentShift", "version",
  ]

  /// What is wrong with a line that is JSON.
  package struct Wrong: Error {
    package let message: String
    init(_ message: String) { self.message = message }
  }

  private static func number(_ fields: JSONFields, _ name: String, _ missing: UInt64) throws(Wrong) -> UInt64 {
    guard fields[name] != nil else { return missing }
    guard let number = fields.unsigned(name) else { throw Wrong("'\(name)' must be a whole number of 64 bits") }
    return number
  }

  private static func value(_ fields: JSONFields, _ type: inout UInt8) throws(Wrong) -> [UInt8] {
    let declared = try declaredType(fields)
    if fields["valueBase64"] != nil {
      guard let bytes = fields.bytes("value") else {
        throw Wrong("'valueBase64' is no base64, or 'value' is there too")
      }
      type = declared ?? ValueType.bytes.rawValue
      return bytes
    }
    guard let value = fields["value"] else { throw Wrong("a record needs 'value' or 'valueBase64'") }
    if let declared { type = declared } else { type = try natural(value).rawValue }
    switch (ValueType(rawValue: type), value) {
    case (.string, .string(let text)), (.json, .string(let text)), (.bytes, .string(let text)): return Array(text.utf8)
    case (.json, .container(let text)): return text
    case (.json, .number(let text)): return Array(text.utf8)
    case (.json, .bool(let flag)): return Array(String(flag).utf8)
    case (.json, .null): return Array("null".utf8)
    case (.bool, .bool(let flag)): return [flag ? 1 : 0]
    case (.integer, .number(let text)):
      if let number = Int(text) { return stored(number) }
    case (.double, .number(let text)):
      if let number = Double(text), number.isFinite { return stored(number) }
    default: break
    }
    throw Wrong("the value is not of the record's type")
  }

  private static func declaredType(_ fields: JSONFields) throws(Wrong) -> UInt8? {
    switch fields["type"] {
    case nil: return nil
    case .string(let name):
      if let type = ValueType.allCases.first(where: { $0.name == name }) { return type.rawValue }
    case .number(let text):
      if let number = UInt8(text), number > 0 { return number }
    default: break
    }
    throw Wrong("'type' is none: \(ValueType.allCases.map(\.name).joined(separator: ", "))")
  }

  /// The type of a value that names none.
  private static func natural(_ value: JSONFields.Value) throws(Wrong) -> ValueType {
    switch value {
    case .bool: return .bool
    case .number(let text):
      if Int(text) != nil { return .integer }
      guard text.contains(where: { ".eE".contains($0) }) else {
        throw Wrong("\(text) is more than an integer holds; give it a decimal point, or quotes")
      }
      return .double
    case .string: return .string
    case .container, .null: return .json
    }
  }

  private static func stored(_ value: some TableValue) -> [UInt8] {
    unsafe value.withTableBytes { bytes in unsafe [UInt8](bytes) }
  }
}
