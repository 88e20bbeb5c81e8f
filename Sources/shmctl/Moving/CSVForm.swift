import SharedTable
import TableDump
import ToolSupport

/// Comma-separated values (RFC 4180) with a first line of names: key, value, type, expiryMilliseconds, encoding.
///
/// `encoding` is empty, or `base64` for a key and a value of which one is no UTF-8. Spreadsheets read it.
struct CSVWriter: PlainWriter {
  var start: [UInt8] { Array("key,value,type,expiryMilliseconds,encoding\r\n".utf8) }

  func record(_ record: OwnedRecord) -> [UInt8]? {
    guard !record.isOpaque, let type = record.type else { return nil }
    let value = record.text
    let isText = String(validating: record.key, as: UTF8.self) != nil && String(validating: value, as: UTF8.self) != nil
    let fields = [
      isText ? Self.quoted(record.key) : Array(JSONText.base64(record.key).utf8),
      isText ? Self.quoted(value) : Array(JSONText.base64(value).utf8),
      Array(type.name.utf8),
      record.expiry == 0 ? [] : Array(String(record.expiry / 1_000_000).utf8),
      isText ? [] : Array("base64".utf8),
    ]
    return Array(fields.joined(separator: [UInt8(ascii: ",")])) + Array("\r\n".utf8)
  }

  private static func quoted(_ bytes: [UInt8]) -> [UInt8] {
    let special = Swift.Set(",\"\r\n".utf8)
    // A space at either end, too: some readers take it away.
    guard bytes.isEmpty || bytes.first == 0x20 || bytes.last == 0x20 || bytes.contains(where: special.contains) else {
      return bytes
    }
    let quote = UInt8(ascii: "\"")
    return [quote] + bytes.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
  }
}

/// Reads what the writer writes, and other programs' files: columns in any order, of which `key` and `value` are needed.
enum CSVReader {
  private static let names = ["key", "value", "type", "expiryMilliseconds", "encoding"]

  static func records(_ input: [UInt8]) throws(PlainProblem) -> [OwnedRecord] {
    var rows = Rows(input: input)
    guard let header = try rows.next() else {
      throw PlainProblem(line: 1, "a first line with the columns' names is missing")
    }
    let columns = header.map { String(decoding: $0, as: UTF8.self) }
    for column in columns where !names.contains(column) || columns.count(where: { $0 == column }) > 1 {
      throw PlainProblem(
        line: 1, "column '\(column.printable)' is none of \(names.joined(separator: ", ")), or there twice")
    }
    guard columns.contains("key"), columns.contains("value") else {
      throw PlainProblem(line: 1, "the columns 'key' and 'value' are needed")
    }
    var records: [OwnedRecord] = []
    while let row = try rows.next() {
      guard row.count == columns.count else {
        throw PlainProblem(line: rows.line, "fields: \(row.count), where the first line names \(columns.count)")
      }
      records.append(try record(Dictionary(uniqueKeysWithValues: zip(columns, row)), rows.line))
    }
    return records
  }

  private static func record(_ row: [String: [UInt8]], _ line: Int) throws(PlainProblem) -> OwnedRecord {
    var (key, value) = (row["key"] ?? [], row["value"] ?? [])
    switch row["encoding"].map({ String(decoding: $0, as: UTF8.self) }) ?? "" {
    case "": break
    case "base64":
      guard let (plainKey, plainValue) = decoded(key, value) else { throw PlainProblem(line: line, "no base64") }
      (key, value) = (plainKey, plainValue)
    default: throw PlainProblem(line: line, "the encoding is empty or base64")
    }
    guard Table.keyLengths.contains(key.count) else {
      throw PlainProblem(line: line, "a key has 1 to \(Table.keyLengths.upperBound) bytes")
    }
    var record: OwnedRecord
    let name = row["type"].map { String(decoding: $0, as: UTF8.self) } ?? ""
    let kind = ValueKind(rawValue: name)
    guard kind != nil || name.isEmpty else {
      throw PlainProblem(line: line, "no type '\(name.printable)'; there are \(ValueKind.names)")
    }
    do throws(Complaint) { record = try TypedValue(value, as: kind).record(key) } catch {
      throw PlainProblem(line: line, error.message)
    }
    if let expiry = row["expiryMilliseconds"], !expiry.isEmpty {
      guard let number = UInt64(String(decoding: expiry, as: UTF8.self)), number > 0, number <= .max / 1_000_000 else {
        throw PlainProblem(line: line, "expiryMilliseconds must be milliseconds since 1970")
      }
      record.expiry = number * 1_000_000
    }
    return record
  }

  private static func decoded(_ key: [UInt8], _ value: [UInt8]) -> ([UInt8], [UInt8])? {
    guard let key = JSONText.bytes(base64: String(decoding: key, as: UTF8.self)),
      let value = JSONText.bytes(base64: String(decoding: value, as: UTF8.self))
    else { return nil }
    return (key, value)
  }

  private struct Rows {
    let input: [UInt8]
    var position = 0
    /// Where the row that was handed out last begins.
    var line = 0
    private var nextLine = 1

    init(input: [UInt8]) { self.input = input }

    mutating func next() throws(PlainProblem) -> [[UInt8]]? {
      while position < input.count, input[position] == 0x0a || input[position] == 0x0d {
        if input[position] == 0x0a { nextLine += 1 }
        position += 1
      }
      guard position < input.count else { return nil }
      line = nextLine
      var row = [try field()]
      while position < input.count, input[position] == UInt8(ascii: ",") {
        position += 1
        row.append(try field())
      }
      return row
    }

    private mutating func field() throws(PlainProblem) -> [UInt8] {
      guard position < input.count, input[position] == UInt8(ascii: "\"") else {
        let end = input[position...].firstIndex { $0 == UInt8(ascii: ",") || $0 == 0x0a || $0 == 0x0d } ?? input.count
        defer { position = end }
        return Array(input[position..<end])
      }
      position += 1
      var field: [UInt8] = []
      while position < input.count {
        let byte = input[position]
        position += 1
        if byte == 0x0a { nextLine += 1 }
        guard byte == UInt8(ascii: "\"") else {
          field.append(byte)
          continue
        }
        guard position < input.count, input[position] == byte else {
          guard position == input.count || [UInt8(ascii: ","), 0x0a, 0x0d].contains(input[position]) else {
            throw PlainProblem(line: line, "a comma or the line's end must follow a closing quote")
          }
          return field
        }
        field.append(byte)
        position += 1
      }
      throw PlainProblem(line: line, "a quote is not closed")
    }
  }
}
