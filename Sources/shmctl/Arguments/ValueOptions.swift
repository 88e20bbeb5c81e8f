import ArgumentParser
import SharedTable
import ToolSupport

/// What a value on the command line is.
struct ValueOptions: ParsableArguments {
  @Option(help: "The value's type.")
  var type: ValueKind?

  @Flag(exclusivity: .exclusive, help: "The same in a word; --json, behind the command's name, is --json-value.")
  var kind: KindFlag?

  /// The type asked for; nil to see from the bytes.
  var asked: ValueKind? { kind?.kind ?? type }

  func validate() throws {
    if let type, let kind, kind.kind != type {
      throw ValidationError("--type and --\(kind.rawValue) exclude each other")
    }
  }
}

extension Transaction {
  mutating func set(_ key: [UInt8], _ value: TypedValue, expires: Expiration) throws(TableError) {
    switch value {
    case .string(let text): try set(key, text, expires: expires)
    case .bytes(let bytes): try set(key, bytes, expires: expires)
    case .integer(let number): try set(key, number, expires: expires)
    case .double(let number): try set(key, number, expires: expires)
    case .bool(let flag): try set(key, flag, expires: expires)
    case .json(let text): try set(key, SharedTable.JSONText(bytes: text), expires: expires)
    }
  }
}

extension TableEntry {
  /// For a change that leaves the expiry what it is.
  var expiration: Expiration { Expiration(at: expiry) }
}
