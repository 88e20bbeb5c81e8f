import SharedTable
import TableDump
import ToolSupport

/// A value between its text and its stored form.
enum TypedValue: Equatable {
  case string(String)
  case bytes([UInt8])
  case integer(Int)
  case double(Double)
  case bool(Bool)
  case json([UInt8])

  /// What the bytes of an argument or of standard input are: of the kind asked for, else a string if they are UTF-8,
  /// else bytes.
  init(_ input: [UInt8], as kind: ValueKind?) throws(Complaint) {
    let text = String(validating: input, as: UTF8.self)
    switch kind {
    case nil: self = text.map { .string($0) } ?? .bytes(input)
    case .bytes: self = .bytes(input)
    case .string:
      guard let text else { throw .usage("the value is not valid UTF-8; store it with --type bytes") }
      self = .string(text)
    case .json:
      guard JSONCheck.compacted(input) != nil else {
        throw .usage("the value is not valid JSON; correct it, or store it as a string")
      }
      self = .json(input)
    case .integer:
      guard let value = Int(Self.trimmed(text)) else {
        throw .usage("the value is no decimal integer of 64 bits; give one such as -42")
      }
      self = .integer(value)
    case .double:
      let trimmed = Self.trimmed(text)
      guard let value = Double(trimmed) else {
        throw .usage("the value is no number; give one such as 2.5 or 1e-3")
      }
      // Infinity is a value for who writes it, and no place for numbers that do not fit.
      guard value.isFinite || !trimmed.utf8.contains(where: { (0x30...0x39).contains($0) }) else {
        throw .usage("the value does not fit into a double; the largest is about 1.8e308")
      }
      self = .double(value)
    case .bool:
      switch Self.trimmed(text) {
      case "true", "1": self = .bool(true)
      case "false", "0": self = .bool(false)
      default: throw .usage("the value is no bool; give true or false")
      }
    }
  }

  /// Numbers that come from a pipe end with a newline.
  private static func trimmed(_ text: String?) -> Substring { text?.trimmed(of: \.isWhitespace) ?? "" }
}

extension ValueType {
  /// Printed as text, since its stored bytes would be of no use in a shell.
  var isScalar: Bool { self == .integer || self == .double || self == .bool }
}

extension TableEntry {
  /// The value for people and pipes: numbers and bools as decimal text, all else as it is stored.
  var text: [UInt8] {
    switch scalar {
    case .integer(let value): Array(String(value).utf8)
    case .double(let value): Array(String(value).utf8)
    case .bool(let value): Array(String(value).utf8)
    default: bytes
    }
  }

  /// The number or bool that it is; nil for any other type, and for bytes that are none of their type.
  private var scalar: TypedValue? {
    unsafe bytes.withUnsafeBytes { stored in
      switch type {
      case .integer: unsafe Int(tableBytes: stored).map { .integer($0) }
      case .double: unsafe Double(tableBytes: stored).map { .double($0) }
      case .bool: unsafe Bool(tableBytes: stored).map { .bool($0) }
      default: nil
      }
    }
  }

  /// Adds `type`, `value` or `valueBase64`, `version` and, if it has one, `expiryMilliseconds` and
  /// `timeLeftMilliseconds`.
  func describe(in object: inout JSONObject) {
    object.add("type", type?.name ?? "unknown")
    addValue(to: &object)
    object.add("version", version)
    if let expiry { object.add(expiry: expiry) }
  }

  private func addValue(to object: inout JSONObject) {
    switch (type, scalar) {
    // JSON has no word for these.
    case (_, .double(let value)) where !value.isFinite: object.add("value", String(value))
    case (_, .some): object.add("value", raw: text)
    case (.string, _): object.add("value", bytes: bytes)
    case (.json, _):
      if let compacted = JSONCheck.compacted(bytes) {
        object.add("value", raw: JSONText.escapingControls(compacted))
      } else {
        object.addBase64("value", bytes)
      }
    default: object.addBase64("value", bytes)
    }
  }
}

extension TypedValue {
  /// As a table stores it.
  func record(_ key: [UInt8]) -> OwnedRecord {
    switch self {
    case .string(let text): OwnedRecord(key: key, value: Array(text.utf8), type: .string)
    case .bytes(let bytes): OwnedRecord(key: key, value: bytes, type: .bytes)
    case .integer(let number): OwnedRecord(key: key, number)
    case .double(let number): OwnedRecord(key: key, number)
    case .bool(let flag): OwnedRecord(key: key, flag)
    case .json(let text): OwnedRecord(key: key, value: text, type: .json)
    }
  }
}
