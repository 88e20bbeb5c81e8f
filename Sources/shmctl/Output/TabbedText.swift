/// Keys and values on lines: a tab between, and what would be mistaken for one, or for the line's end, with a backslash:
/// `\t`, `\n`, `\r`, `\\`. Every other byte is itself.
enum TabbedText {
  private static let backslash = UInt8(ascii: "\\")
  private static let letters: [(byte: UInt8, letter: UInt8)] = [
    (UInt8(ascii: "\t"), UInt8(ascii: "t")), (UInt8(ascii: "\n"), UInt8(ascii: "n")),
    (UInt8(ascii: "\r"), UInt8(ascii: "r")), (backslash, backslash),
  ]

  static func line(_ key: [UInt8], _ value: [UInt8]) -> [UInt8] {
    escaped(key) + [UInt8(ascii: "\t")] + escaped(value) + [UInt8(ascii: "\n")]
  }

  static func escaped(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.contains(where: { byte in letters.contains { $0.byte == byte } }) else { return bytes }
    return bytes.reduce(into: []) { result, byte in
      if let letter = letters.first(where: { $0.byte == byte })?.letter {
        result += [backslash, letter]
      } else {
        result.append(byte)
      }
    }
  }

  /// A line's key and value; nil if there is no tab in it, or a backslash before something else.
  static func pair(_ line: [UInt8]) -> (key: [UInt8], value: [UInt8])? {
    guard let tab = line.firstIndex(of: UInt8(ascii: "\t")), let key = unescaped(line[..<tab]),
      let value = unescaped(line[(tab + 1)...])
    else { return nil }
    return (key, value)
  }

  private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    guard bytes.contains(backslash) else { return [UInt8](bytes) }
    var result: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      if byte != backslash {
        result.append(byte)
      } else if let letter = rest.popFirst(), let byte = letters.first(where: { $0.letter == letter })?.byte {
        result.append(byte)
      } else {
        return nil
      }
    }
    return result
  }
}
