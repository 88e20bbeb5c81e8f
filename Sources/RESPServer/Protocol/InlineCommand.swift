/// Commands that people type: words between spaces, with quotes and escapes as in Redis.
enum InlineCommand {
  /// - Returns: nil if quotes are not closed, or are closed within a word.
  static func words(of line: [UInt8]) -> [[UInt8]]? {
    var rest = line[...]
    var words: [[UInt8]] = []
    while true {
      rest = rest.drop(while: isSpace)
      if rest.isEmpty { return words }
      guard let word = takeWord(&rest) else { return nil }
      words.append(word)
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == ASCII.space || (9...13).contains(byte) }

  private static func takeWord(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
    var word: [UInt8] = []
    while let byte = rest.first, !isSpace(byte) {
      rest.removeFirst()
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        guard takeQuoted(byte, &rest, &word) else { return nil }
        // A closing quote ends its word.
        if let next = rest.first, !isSpace(next) { return nil }
        return word
      default:
        word.append(byte)
      }
    }
    return word
  }

  private static func takeQuoted(_ quote: UInt8, _ rest: inout ArraySlice<UInt8>, _ word: inout [UInt8]) -> Bool {
    while let byte = rest.popFirst() {
      if byte == quote { return true }
      guard byte == UInt8(ascii: "\\"), let next = rest.first else {
        word.append(byte)
        continue
      }
      if quote == UInt8(ascii: "'") {
        if next == quote {
          rest.removeFirst()
          word.append(next)
        } else {
          word.append(byte)
        }
        continue
      }
      rest.removeFirst()
      if next == UInt8(ascii: "x"), rest.count >= 2, let high = hex(rest[rest.startIndex]),
        let low = hex(rest[rest.startIndex + 1])
      {
        rest.removeFirst(2)
        word.append(high << 4 | low)
      } else {
        word.append(escaped(next))
      }
    }
    return false
  }

  private static func hex(_ byte: UInt8) -> UInt8? {
    UInt8(String(UnicodeScalar(byte)), radix: 16)
  }

  private static func escaped(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "n"): 10
    case UInt8(ascii: "r"): 13
    case UInt8(ascii: "t"): 9
    case UInt8(ascii: "b"): 8
    case UInt8(ascii: "a"): 7
    default: byte
    }
  }
}
