import SharedTable
import TableDump
import ToolSupport

/// Lines `NAME="value"`, as shells and many programs read them from a file `.env`. A value's own line ends stand in it as they are:
/// to a shell `\n` between quotes is a backslash and an n.
struct EnvWriter: PlainWriter {
  var start: [UInt8] { [] }

  func record(_ record: OwnedRecord) -> [UInt8]? {
    guard !record.isOpaque, EnvReader.isName(record.key[...]), !record.text.contains(0) else { return nil }
    var line = record.key + Array("=\"".utf8)
    for byte in record.text {
      switch byte {
      case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "$"), UInt8(ascii: "`"):
        line += [UInt8(ascii: "\\"), byte]
      default: line.append(byte)
      }
    }
    return line + Array("\"\n".utf8)
  }
}

/// Reads lines `NAME=value` with or without `export` and quotes, between which there may be several lines. Between double quotes
/// `\n`, `\r`, `\t` and a backslash before any other character are escapes; between single quotes nothing is. Nothing is expanded.
enum EnvReader {
  static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let first = bytes.first, !(0x30...0x39).contains(first) else { return false }
    return bytes.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "_"): true
      default: false
      }
    }
  }

  static func records(_ input: [UInt8]) throws(PlainProblem) -> [OwnedRecord] {
    var records: [OwnedRecord] = []
    var rest = input[...]
    var number = 1
    while !rest.isEmpty {
      let line = rest.prefix { $0 != 0x0a }
      var end = line.endIndex
      let text = line.trimmed(of: \.isBlank)
      if let first = text.first, first != UInt8(ascii: "#") {
        records.append(try record(text, in: input, number, &end))
      }
      number += 1 + rest[..<end].count { $0 == 0x0a }
      rest = input[end...].dropFirst()
    }
    return records
  }

  /// - Parameter end: of the line; of the one in which a quoted value ends if that is another.
  private static func record(
    _ line: ArraySlice<UInt8>, in input: [UInt8], _ number: Int, _ end: inout Int
  ) throws(PlainProblem) -> OwnedRecord {
    let export = Array("export ".utf8)
    let line = line.starts(with: export) ? line.dropFirst(export.count).trimmed(of: \.isBlank) : line
    guard let equals = line.firstIndex(of: UInt8(ascii: "=")), isName(line[..<equals]) else {
      throw PlainProblem(line: number, "NAME=value is expected, a name of letters, digits and _")
    }
    let key = Array(line[..<equals])
    guard Table.keyLengths.contains(key.count) else { throw PlainProblem(line: number, "the name is too long") }
    let text = line[(equals + 1)...]
    guard let quote = text.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      return OwnedRecord(key: key, plain: unquoted(text))
    }
    return OwnedRecord(key: key, plain: try quoted(input[(text.startIndex + 1)...], by: quote, number, &end))
  }

  /// Up to a comment, which needs a space before it.
  private static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var end = text.startIndex
    while end < text.endIndex {
      if text[end] == UInt8(ascii: "#"), end == text.startIndex || text[end - 1].isBlank { break }
      end += 1
    }
    return Array(text[..<end].trimmed(of: \.isBlank))
  }

  private static func quoted(
    _ text: ArraySlice<UInt8>, by quote: UInt8, _ number: Int, _ end: inout Int
  ) throws(PlainProblem) -> [UInt8] {
    var value: [UInt8] = []
    var index = text.startIndex
    while index < text.endIndex {
      let byte = text[index]
      index += 1
      if byte == quote {
        let line = text[index...].prefix { $0 != 0x0a }
        let rest = line.drop(while: \.isBlank)
        guard rest.isEmpty || rest.first == UInt8(ascii: "#") else {
          throw PlainProblem(line: number, "nothing but a comment may follow the closing quote")
        }
        end = line.endIndex
        return value
      }
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), index < text.endIndex {
        value.append(unescaped(text[index]))
        index += 1
      } else {
        value.append(byte)
      }
    }
    throw PlainProblem(line: number, "the quote is not closed")
  }

  private static func unescaped(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "n"): 0x0a
    case UInt8(ascii: "r"): 0x0d
    case UInt8(ascii: "t"): 0x09
    default: byte
    }
  }
}
