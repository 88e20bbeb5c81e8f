import SharedMemory

/// A flat JSON object, read: what `--json` prints and dumps hold, a line each. Objects and arrays in it stay text.
public struct JSONFields {
  /// One member's value.
  public enum Value: Equatable, Sendable {
    case null
    case bool(Bool)
    /// As it is written.
    case number(String)
    case string(String)
    /// An object or array: its text without white space between tokens.
    case container([UInt8])
  }

  /// What is wrong with a line, and at which of its bytes, counted from 1.
  public struct Problem: Error, Equatable, CustomStringConvertible {
    public let column: Int
    public let message: String
    public var description: String { "column \(column): \(message)" }
  }

  private var members: [(name: String, value: Value)] = []

  /// - Parameter line: without its end.
  public init(line: [UInt8]) throws(Problem) {
    guard String(validating: line, as: UTF8.self) != nil else {
      throw Problem(column: 1, message: "it is not valid UTF-8; give bytes that are none in base64")
    }
    var scanner = Scanner(line: line)
    try scanner.expect("{", "an object")
    if scanner.take("}") {
      try scanner.expectEnd()
      return
    }
    var names: Set<String> = []
    repeat {
      let start = scanner.column
      guard case .string(let name) = try scanner.value() else {
        throw Problem(column: start, message: "a member's name is expected here")
      }
      guard names.insert(name).inserted else {
        throw Problem(column: start, message: "'\(name.printable)' is there twice")
      }
      try scanner.expect(":", "a colon")
      members.append((name, try scanner.value()))
    } while scanner.take(",")
    try scanner.expect("}", "a comma or the object's end")
    try scanner.expectEnd()
  }

  public subscript(_ name: String) -> Value? { members.first { $0.name == name }?.value }
  public var names: [String] { members.map(\.name) }

  /// A text, or bytes in base64 under the name with `Base64` behind it. Nil if there is neither, or both, or they are not
  /// what they should be.
  public func bytes(_ name: String) -> [UInt8]? {
    switch (self[name], self["\(name)Base64"]) {
    case (.string(let text), nil): Array(text.utf8)
    case (nil, .string(let text)): JSONText.bytes(base64: text)
    default: nil
    }
  }

  public func string(_ name: String) -> String? {
    guard case .string(let text) = self[name] else { return nil }
    return text
  }

  public func unsigned(_ name: String) -> UInt64? {
    guard case .number(let text) = self[name] else { return nil }
    return UInt64(text)
  }
}

extension JSONFields {
  private struct Scanner {
    let line: [UInt8]
    var position = 0

    init(line: [UInt8]) { self.line = line }

    var column: Int { position + 1 }
    var next: UInt8? { position < line.count ? line[position] : nil }

    mutating func skipSpace() {
      while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0d || byte == 0x0a { position += 1 }
    }

    mutating func take(_ character: Character) -> Bool {
      skipSpace()
      guard next == character.asciiValue else { return false }
      position += 1
      return true
    }

    mutating func expect(_ character: Character, _ what: String) throws(Problem) {
      guard take(character) else { throw Problem(column: column, message: "\(what) is expected here") }
    }

    mutating func expectEnd() throws(Problem) {
      skipSpace()
      if position < line.count { throw Problem(column: column, message: "nothing may follow the object") }
    }

    mutating func value() throws(Problem) -> Value {
      skipSpace()
      switch next {
      case UInt8(ascii: "\""): return .string(try string())
      case nil: throw Problem(column: column, message: "the line ends here; is it cut off?")
      default: break
      }
      guard let (text, end) = JSONCheck.value(in: line, at: position) else {
        throw Problem(column: column, message: "no JSON value")
      }
      position = end
      switch text[0] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): return .container(text)
      case UInt8(ascii: "t"): return .bool(true)
      case UInt8(ascii: "f"): return .bool(false)
      case UInt8(ascii: "n"): return .null
      default: return .number(String(decoding: text, as: UTF8.self))
      }
    }

    private mutating func string() throws(Problem) -> String {
      let start = column
      position += 1
      var bytes: [UInt8] = []
      while let byte = next {
        position += 1
        switch byte {
        case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
        case UInt8(ascii: "\\"): bytes += try escape()
        case 0..<0x20: throw Problem(column: column - 1, message: "a control character; write it \\u00NN")
        default: bytes.append(byte)
        }
      }
      throw Problem(column: start, message: "the text that begins here does not end")
    }

    private mutating func escape() throws(Problem) -> [UInt8] {
      let start = column - 1
      guard let kind = next else { throw Problem(column: start, message: "an escape that does not end") }
      position += 1
      switch kind {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [kind]
      case UInt8(ascii: "b"): return [8]
      case UInt8(ascii: "f"): return [12]
      case UInt8(ascii: "n"): return [10]
      case UInt8(ascii: "r"): return [13]
      case UInt8(ascii: "t"): return [9]
      case UInt8(ascii: "u"): return Array(String(try scalar(start)).utf8)
      default: throw Problem(column: start, message: "no JSON escape")
      }
    }

    private mutating func scalar(_ start: Int) throws(Problem) -> Unicode.Scalar {
      let first = try unit(start)
      if let scalar = Unicode.Scalar(first) { return scalar }
      guard first < 0xdc00, next == UInt8(ascii: "\\"), position + 1 < line.count,
        line[position + 1] == UInt8(ascii: "u")
      else { throw Problem(column: start, message: "half of a surrogate pair; give both halves, or bytes in base64") }
      position += 2
      let second = try unit(start)
      guard (0xdc00..<0xe000).contains(second),
        let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
      else { throw Problem(column: start, message: "half of a surrogate pair; give both halves, or bytes in base64") }
      return scalar
    }

    private mutating func unit(_ start: Int) throws(Problem) -> UInt32 {
      let digits = line[position..<min(position + 4, line.count)]
      guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
        let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
      else { throw Problem(column: start, message: "\\u needs four hexadecimal digits") }
      position += 4
      return unit
    }
  }
}
