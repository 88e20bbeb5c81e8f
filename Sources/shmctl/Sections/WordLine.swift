import ToolSupport

/// A line of words, as `batch` reads them and `escaped` writes them: every byte has a spelling.
///
/// Words stand between spaces or tabs. `\n \r \t \\ \" \s` (a space) and `\xNN` (any byte) are escapes; between double
/// quotes spaces are a word's own, and `""` is the empty word. A line that begins with `#` is a comment.
enum WordLine {
  /// - Parameter refusingSingleQuotes: whether a word may not begin with a single quote, which is a character like any other here.
  static func words(
    _ line: [UInt8], refusingSingleQuotes: Bool = false
  ) throws(OperationLine.Wrong) -> [[UInt8]] {
    var words: [[UInt8]] = []
    var position = 0
    while let start = begin(of: line, from: position) {
      if words.isEmpty, line[start] == UInt8(ascii: "#") { return [] }
      if refusingSingleQuotes, line[start] == UInt8(ascii: "'") {
        throw OperationLine.Wrong(
          "single quotes are characters here; write \"two words\", and \\x27 for a quote at a word's begin")
      }
      position = start
      words.append(try word(line, &position))
    }
    return words
  }

  /// The words of a line that is being typed, up to the cursor. The last is the one in which the cursor stands: it may be empty, and
  /// its quote not closed yet. `start` is where it begins. Nil in a comment.
  static func unfinished(
    _ line: [UInt8]
  ) throws(OperationLine.Wrong) -> (words: [[UInt8]], start: Int)? {
    var words: [[UInt8]] = []
    var position = 0
    while let start = begin(of: line, from: position) {
      if words.isEmpty, line[start] == UInt8(ascii: "#") { return nil }
      position = start
      words.append(try word(line, &position, isUnfinished: true))
      if position == line.count { return (words, start) }
    }
    return (words + [[]], line.count)
  }

  /// Where the next word begins; nil if there is none.
  private static func begin(of line: [UInt8], from position: Int) -> Int? {
    line[position...].firstIndex { !$0.isBlank }
  }

  /// The word that begins at `position`, which then stands behind it.
  private static func word(
    _ line: [UInt8], _ position: inout Int, isUnfinished: Bool = false
  ) throws(OperationLine.Wrong) -> [UInt8] {
    var word: [UInt8] = []
    let isQuoted = line[position] == UInt8(ascii: "\"")
    let start = position
    if isQuoted { position += 1 }
    while position < line.count {
      let byte = line[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard isQuoted else { word.append(byte); continue }
        guard position == line.count || line[position].isBlank else {
          throw OperationLine.Wrong("a space must follow the quote in column \(position)")
        }
        return word
      case UInt8(ascii: "\\"): word.append(try escape(line, &position))
      case _ where !isQuoted && byte.isBlank:
        position -= 1
        return word
      default: word.append(byte)
      }
    }
    if isQuoted, !isUnfinished { throw OperationLine.Wrong("the quote in column \(start + 1) is not closed") }
    return word
  }

  private static func escape(_ line: [UInt8], _ position: inout Int) throws(OperationLine.Wrong) -> UInt8 {
    let column = position
    guard position < line.count else { throw OperationLine.Wrong("a backslash at the end; write \\\\") }
    let kind = line[position]
    position += 1
    switch kind {
    case UInt8(ascii: "n"): return 0x0a
    case UInt8(ascii: "r"): return 0x0d
    case UInt8(ascii: "t"): return 0x09
    case UInt8(ascii: "s"): return 0x20
    case UInt8(ascii: "\\"), UInt8(ascii: "\""): return kind
    case UInt8(ascii: "x"):
      let digits = line[position..<min(position + 2, line.count)]
      position += digits.count
      if digits.count == 2, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
        let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        return byte
      }
    default: break
    }
    throw OperationLine.Wrong("no escape in column \(column); there are \\n \\r \\t \\s \\\\ \\\" and \\xNN")
  }

  /// A word that reads back as these bytes, without a byte that a terminal obeys.
  static func escaped(_ bytes: [UInt8]) -> [UInt8] {
    if bytes.isEmpty { return Array("\"\"".utf8) }
    var result: [UInt8] = []
    let isText = String(validating: bytes, as: UTF8.self) != nil
    for (index, byte) in bytes.enumerated() {
      switch byte {
      case 0x0a: result += Array("\\n".utf8)
      case 0x0d: result += Array("\\r".utf8)
      case 0x09: result += Array("\\t".utf8)
      case 0x20: result += Array("\\s".utf8)
      case UInt8(ascii: "\\"), UInt8(ascii: "\""): result += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "#") where result.isEmpty: result += Array("\\x23".utf8)
      case 0..<0x20, 0x7f: result += Array(String.escaped(byte).utf8)
      case 0x80... where !isText || isControl(bytes, index): result += Array(String.escaped(byte).utf8)
      default: result.append(byte)
      }
    }
    return result
  }

  /// Is a byte of UTF-8 one of the two of U+0080 to U+009F? Terminals obey those too.
  private static func isControl(_ bytes: [UInt8], _ index: Int) -> Bool {
    let first = bytes[index] == 0xc2 ? index : index - 1
    return first >= 0 && bytes[first] == 0xc2 && (0x80..<0xa0).contains(bytes[first + 1])
  }
}
