/// Checks JSON text against RFC 8259 and takes the white space between its tokens out.
///
/// `set --type json` stores nothing else, and `get --json` puts a stored value into its own line only if it passes:
/// other programs may have stored anything as json.
public struct JSONCheck {
  private let input: [UInt8]
  private var position: Int
  private var output: [UInt8] = []
  private struct Invalid: Error {}

  /// Deeper nesting is refused: the check recurses, and the bytes may come from a stranger.
  public static let maximumDepth = 512

  /// The text on one line; nil if it is no JSON.
  public static func compacted(_ bytes: [UInt8]) -> [UInt8]? {
    guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
    guard let value = value(in: bytes, at: 0) else { return nil }
    var rest = JSONCheck(input: bytes, position: value.end)
    rest.skipSpace()
    return rest.next == nil ? value.text : nil
  }

  /// The value that begins there, but for white space: its text on one line, and where it ends. What follows is not looked at. Nil if there
  /// is none.
  /// - Parameter bytes: valid UTF-8.
  static func value(in bytes: [UInt8], at start: Int) -> (text: [UInt8], end: Int)? {
    var check = JSONCheck(input: bytes, position: start)
    do { try check.value(depth: 0) } catch { return nil }
    return (check.output, check.position)
  }

  private init(input: [UInt8], position: Int) {
    self.input = input
    self.position = position
  }

  private var next: UInt8? { position < input.count ? input[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
  }

  private mutating func take() throws(Invalid) -> UInt8 {
    guard let byte = next else { throw Invalid() }
    position += 1
    output.append(byte)
    return byte
  }

  private mutating func take(_ wanted: Character) throws(Invalid) {
    guard try take() == wanted.asciiValue else { throw Invalid() }
  }

  private mutating func value(depth: Int) throws(Invalid) {
    guard depth < Self.maximumDepth else { throw Invalid() }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): try members(closing: "}", depth: depth, named: true)
    case UInt8(ascii: "["): try members(closing: "]", depth: depth, named: false)
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    default: try number()
    }
  }

  private mutating func members(closing: Character, depth: Int, named: Bool) throws(Invalid) {
    _ = try take()
    skipSpace()
    if next == closing.asciiValue { return try take(closing) }
    while true {
      if named {
        skipSpace()
        try string()
        skipSpace()
        try take(":")
      }
      try value(depth: depth + 1)
      skipSpace()
      if next == closing.asciiValue { return try take(closing) }
      try take(",")
    }
  }

  private mutating func string() throws(Invalid) {
    try take("\"")
    while true {
      switch try take() {
      case UInt8(ascii: "\""): return
      case 0..<0x20: throw Invalid()
      case UInt8(ascii: "\\"): try escape()
      default: break
      }
    }
  }

  private mutating func escape() throws(Invalid) {
    let kind = try take()
    if kind == UInt8(ascii: "u") {
      try codePoint()
    } else if !#""\/bfnrt"#.utf8.contains(kind) {
      throw Invalid()
    }
  }

  /// What follows `\u`. Half of a surrogate pair is no character: other programs refuse the whole text for it.
  private mutating func codePoint() throws(Invalid) {
    let unit = try hexadecimal()
    if 0xdc00...0xdfff ~= unit { throw Invalid() }
    guard 0xd800...0xdbff ~= unit else { return }
    try take("\\")
    try take("u")
    guard 0xdc00...0xdfff ~= (try hexadecimal()) else { throw Invalid() }
  }

  private mutating func hexadecimal() throws(Invalid) -> Int {
    var unit = 0
    for _ in 0..<4 {
      guard let digit = Character(UnicodeScalar(try take())).hexDigitValue else { throw Invalid() }
      unit = unit << 4 | digit
    }
    return unit
  }

  private mutating func word(_ text: String) throws(Invalid) {
    for character in text { try take(character) }
  }

  private mutating func number() throws(Invalid) {
    if next == UInt8(ascii: "-") { try take("-") }
    if next == UInt8(ascii: "0") { try take("0") } else { try digits() }
    if next == UInt8(ascii: ".") {
      try take(".")
      try digits()
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      _ = try take()
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { _ = try take() }
      try digits()
    }
  }

  private mutating func digits() throws(Invalid) {
    guard let first = next, (0x30...0x39).contains(first) else { throw Invalid() }
    while let byte = next, (0x30...0x39).contains(byte) { _ = try take() }
  }
}
