/// JSON as bytes, without a library: what `--json` prints is a flat object a line, and a parser for that would cost
/// more at start-up than everything else.
struct JSONObject {
  private(set) var bytes: [UInt8] = [UInt8(ascii: "{")]

  /// The object, with the line's end.
  var line: [UInt8] { bytes + Array("}\n".utf8) }
  var text: [UInt8] { bytes + [UInt8(ascii: "}")] }

  mutating func add(_ name: String, raw: [UInt8]) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    bytes += JSONText.quoted(name)
    bytes.append(UInt8(ascii: ":"))
    bytes += raw
  }

  mutating func add(_ name: String, _ number: some BinaryInteger) { add(name, raw: Array(String(number).utf8)) }
  mutating func add(_ name: String, _ flag: Bool) { add(name, raw: Array((flag ? "true" : "false").utf8)) }
  mutating func add(_ name: String, _ text: String) { add(name, raw: JSONText.quoted(text)) }
  mutating func addNull(_ name: String) { add(name, raw: Array("null".utf8)) }

  mutating func add(_ name: String, strings: [String]) { add(name, raw: JSONText.array(strings.map(JSONText.quoted))) }

  /// `"key":"…"`, or `"keyBase64":"…"` for bytes that are no UTF-8.
  mutating func add(_ name: String, bytes: [UInt8]) {
    if let text = String(validating: bytes, as: UTF8.self) {
      add(name, text)
    } else {
      addBase64(name, bytes)
    }
  }

  mutating func addBase64(_ name: String, _ bytes: [UInt8]) { add("\(name)Base64", JSONText.base64(bytes)) }
}

enum JSONText {
  static func array(_ elements: [[UInt8]]) -> [UInt8] {
    [UInt8(ascii: "[")] + elements.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
  }

  /// A string with its quotes; RFC 8259, section 7.
  static func quoted(_ text: String) -> [UInt8] {
    var result = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): result += Array(#"\""#.utf8)
      case UInt8(ascii: "\\"): result += Array(#"\\"#.utf8)
      case UInt8(ascii: "\n"): result += Array(#"\n"#.utf8)
      case UInt8(ascii: "\t"): result += Array(#"\t"#.utf8)
      case UInt8(ascii: "\r"): result += Array(#"\r"#.utf8)
      // DEL too, which JSON allows and terminals obey.
      case 0..<0x20, 0x7f: result += Array(#"\u00"#.utf8) + [digit(byte >> 4), digit(byte & 15)]
      default: result.append(byte)
      }
    }
    result.append(UInt8(ascii: "\""))
    return result
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// RFC 4648, section 4.
  static func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var result: [UInt8] = []
    result.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var group = 0
      for index in 0..<3 { group = group << 8 | (index < count ? Int(bytes[start + index]) : 0) }
      for index in 0..<4 {
        result.append(index <= count ? alphabet[group >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
