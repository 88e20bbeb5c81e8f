/// The parts of JSON text that are not plain: strings, arrays, and bytes as base64.
public enum JSONText {
  public static func array(_ elements: [[UInt8]]) -> [UInt8] {
    [UInt8(ascii: "[")] + elements.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
  }

  /// The elements of an array's text, which has no white space between tokens (`JSONCheck.compacted`).
  public static func elements(ofArray text: [UInt8]) -> [[UInt8]] {
    var elements: [[UInt8]] = []
    var (depth, inString, start, index) = (0, false, 1, 1)
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "\\") where inString: index += 1
      case UInt8(ascii: "\""): inString.toggle()
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += inString ? 0 : 1
      case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"):
        if !inString, depth == 0, index > start {
          elements.append(Array(text[start..<index]))
          start = index + 1
        } else if !inString, text[index] != UInt8(ascii: ",") {
          depth -= 1
        }
      default: break
      }
      index += 1
    }
    return elements
  }

  /// A string with its quotes; RFC 8259, section 7.
  public static func quoted(_ text: String) -> [UInt8] {
    var result = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): result += Array(#"\""#.utf8)
      case UInt8(ascii: "\\"): result += Array(#"\\"#.utf8)
      case UInt8(ascii: "\n"): result += Array(#"\n"#.utf8)
      case UInt8(ascii: "\t"): result += Array(#"\t"#.utf8)
      case UInt8(ascii: "\r"): result += Array(#"\r"#.utf8)
      case 0..<0x20: result += escaped(byte)
      default: result.append(byte)
      }
    }
    result.append(UInt8(ascii: "\""))
    return escapingControls(result)
  }

  /// JSON with DEL and C1 (U+0080 to U+009F) as escapes: JSON allows them as they are, and terminals obey them.
  public static func escapingControls(_ json: [UInt8]) -> [UInt8] {
    guard json.contains(where: { $0 == 0x7f || $0 == 0xc2 }) else { return json }
    var result: [UInt8] = []
    var rest = json[...]
    while let byte = rest.popFirst() {
      if byte == 0x7f {
        result += escaped(byte)
      } else if byte == 0xc2, let next = rest.first, (0x80..<0xa0).contains(next) {
        result += escaped(next)
        rest.removeFirst()
      } else {
        result.append(byte)
      }
    }
    return result
  }

  private static func escaped(_ value: UInt8) -> [UInt8] {
    Array(#"\u00"#.utf8) + [digit(value >> 4), digit(value & 15)]
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// RFC 4648, section 4.
  public static func base64(_ bytes: [UInt8]) -> String {
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

  /// The bytes that base64 text stands for; nil if it is none. Only the one spelling of each: padded, no stray bits.
  public static func bytes(base64 text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 4 == 0 else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(digits.count / 4 * 3)
    for start in stride(from: 0, to: digits.count, by: 4) {
      let isLast = start + 4 == digits.count
      let padding =
        !isLast || digits[start + 3] != UInt8(ascii: "=") ? 0 : digits[start + 2] == UInt8(ascii: "=") ? 2 : 1
      var group = 0
      for index in 0..<4 {
        let value = index >= 4 - padding ? 0 : sixBits(digits[start + index])
        guard let value else { return nil }
        group = group << 6 | value
      }
      guard group & (1 << (8 * padding) - 1) == 0 else { return nil }
      for index in 0..<3 - padding { result.append(UInt8(truncatingIfNeeded: group >> (16 - 8 * index))) }
    }
    return result
  }

  private static func sixBits(_ digit: UInt8) -> Int? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(digit) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(digit) - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(digit) + 4
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
