import SharedTable
import TableDump
import ToolSupport

/// Commands of the Redis protocol, as `redis-cli --pipe` takes them: `SET key value`, with `PXAT` for one that ends.
struct RESPWriter: PlainWriter {
  var start: [UInt8] { [] }

  func record(_ record: OwnedRecord) -> [UInt8]? {
    if record.isOpaque { return nil }
    var words = [Array("SET".utf8), record.key, record.text]
    if record.expiry != 0 { words += [Array("PXAT".utf8), Array(String(record.expiry / 1_000_000).utf8)] }
    var command = Array("*\(words.count)\r\n".utf8)
    for word in words { command += Array("$\(word.count)\r\n".utf8) + word + [0x0d, 0x0a] }
    return command
  }
}

/// Reads such commands: SET with EX, PX, EXAT, PXAT; others are refused.
enum RESPReader {
  /// - Parameter now: nanoseconds since 1970, from which EX and PX count.
  static func records(_ input: [UInt8], now: UInt64) throws(PlainProblem) -> [OwnedRecord] {
    var records: [OwnedRecord] = []
    var position = 0
    while position < input.count {
      let start = position
      records.append(try record(try command(input, &position), now, start))
    }
    return records
  }

  private static func command(_ input: [UInt8], _ position: inout Int) throws(PlainProblem) -> [[UInt8]] {
    let start = position
    let count = try number(input, &position, after: "*")
    guard (1...16).contains(count) else {
      throw PlainProblem(byte: start, "a command of \(count) words; only SET is known")
    }
    var words: [[UInt8]] = []
    for _ in 0..<count {
      let place = position
      let length = try number(input, &position, after: "$")
      guard length >= 0, length <= input.count - position - 2, input[position + length] == 0x0d,
        input[position + length + 1] == 0x0a
      else { throw PlainProblem(byte: place, "a string that is not as long as it says, or cut off") }
      words.append(Array(input[position..<position + length]))
      position += length + 2
    }
    return words
  }

  /// The number of a line `*N` or `$N`, up to its end.
  private static func number(
    _ input: [UInt8], _ position: inout Int, after mark: Character
  ) throws(PlainProblem) -> Int {
    let start = position
    guard let end = input[position...].prefix(24).firstIndex(of: 0x0a), input[position] == mark.asciiValue,
      end > position + 1, input[end - 1] == 0x0d,
      let number = Int(String(decoding: input[position + 1..<end - 1], as: UTF8.self))
    else { throw PlainProblem(byte: start, "\(mark) and a number are expected, and a line's end of two bytes") }
    position = end + 1
    return number
  }

  private static func record(_ words: [[UInt8]], _ now: UInt64, _ place: Int) throws(PlainProblem) -> OwnedRecord {
    let texts = words.map { String(decoding: $0.prefix(16), as: UTF8.self).uppercased() }
    guard texts[0] == "SET" else {
      throw PlainProblem(byte: place, "'\(texts[0].printable)' is not SET; only SET can be imported")
    }
    guard words.count == 3 || words.count == 5, Table.keyLengths.contains(words[1].count) else {
      throw PlainProblem(
        byte: place,
        "SET needs a key of 1 to \(Table.keyLengths.upperBound) bytes, a value, and at most one EX, PX, EXAT or PXAT")
    }
    var record = OwnedRecord(key: words[1], plain: words[2])
    if words.count == 5 {
      record.expiry = try expiry(texts[3], String(decoding: words[4], as: UTF8.self), now, place)
    }
    return record
  }

  private static func expiry(
    _ option: String, _ text: String, _ now: UInt64, _ place: Int
  ) throws(PlainProblem) -> UInt64 {
    let (start, unit): (UInt64, UInt64)
    switch option {
    case "EX": (start, unit) = (now, 1_000_000_000)
    case "PX": (start, unit) = (now, 1_000_000)
    case "EXAT": (start, unit) = (0, 1_000_000_000)
    case "PXAT": (start, unit) = (0, 1_000_000)
    default: throw PlainProblem(byte: place, "'\(option.printable)' cannot be imported")
    }
    guard let number = UInt64(text), number > 0 else { throw PlainProblem(byte: place, "the time is no number") }
    guard number <= (.max - start) / unit else {
      throw PlainProblem(byte: place, "the time is later than any that a table keeps")
    }
    return start + number * unit
  }
}
