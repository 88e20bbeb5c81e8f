import SharedTable
import TableDump
import ToolSupport

/// An operation as a line: words, or a JSON object.
enum OperationLine {
  struct Wrong: Error {
    let message: String
    init(_ message: String) { self.message = message }
  }

  static let usage =
    "set KEY VALUE [ttl=TIME] [type=TYPE] [if=absent|present|VERSION], del KEY, incr KEY [AMOUNT], append KEY VALUE, "
    + "expire KEY TIME, persist KEY, rename KEY NEW, check KEY absent|present|version=N|value=TEXT"

  /// Nil for an empty line and a comment.
  static func parse(_ line: [UInt8], json: Bool) throws(Wrong) -> Operation? {
    if json { return try parseJSON(line) }
    var words = try WordLine.words(line)[...]
    guard let first = words.popFirst() else { return nil }
    guard let key = words.popFirst(), !key.isEmpty else {
      throw Wrong("a key of 1 byte or more must follow the operation")
    }
    let name = String(decoding: first, as: UTF8.self)
    let operation: Operation
    switch name {
    case "set": return try set(key, words)
    case "del": operation = .delete(key)
    case "persist": operation = .persist(key)
    case "append": operation = .append(key, try next(&words, "the bytes to append"))
    case "rename": operation = .rename(key, try next(&words, "the new name"))
    case "expire": operation = .expire(key, try time(try next(&words, "a time such as 30s")))
    case "check": operation = .check(key, try requirement(try next(&words, "what must hold")))
    case "incr":
      let amount = words.popFirst().map { String(decoding: $0, as: UTF8.self) } ?? "1"
      guard let number = Int(amount) else { throw Wrong("the amount must be a whole number of 64 bits") }
      operation = .increment(key, number)
    default: throw Wrong("no operation '\(name.printable)'; there are: \(usage)")
    }
    guard words.isEmpty else { throw Wrong("too many words for '\(name)'; quote what has spaces") }
    return operation
  }

  private static func next(_ words: inout ArraySlice<[UInt8]>, _ what: String) throws(Wrong) -> [UInt8] {
    guard let word = words.popFirst() else { throw Wrong("\(what) is missing") }
    return word
  }

  private static func time(_ word: [UInt8]) throws(Wrong) -> TimeSpan {
    guard let time = TimeSpan(String(decoding: word, as: UTF8.self)), time.milliseconds > 0 else {
      throw Wrong("the time must be more than nothing: 500ms, 30s, 5m, 1h or 2d")
    }
    return time
  }

  private static func set(_ key: [UInt8], _ rest: ArraySlice<[UInt8]>) throws(Wrong) -> Operation {
    var words = rest
    let value = try next(&words, "the value")
    var (ttl, kind, condition): (TimeSpan?, ValueKind?, Operation.Requirement?)
    for word in words {
      let text = String(decoding: word, as: UTF8.self)
      let rest = String(text.drop { $0 != "=" }.dropFirst())
      switch text.prefix(while: { $0 != "=" }) {
      case "ttl": ttl = try time(Array(rest.utf8))
      case "type":
        kind = ValueKind(rawValue: rest)
        guard kind != nil else { throw Wrong("no type '\(rest.printable)'; there are \(ValueKind.names)") }
      case "if": condition = try self.condition(rest)
      default: throw Wrong("'\(text.printable)' is no option of set; quote a value that has spaces")
      }
    }
    do throws(Complaint) {
      return .set(try TypedValue(value, as: kind).record(key), ttl: ttl, condition)
    } catch {
      throw Wrong(error.message)
    }
  }

  private static func condition(_ text: String) throws(Wrong) -> Operation.Requirement {
    switch text {
    case "absent": return .absent
    case "present": return .present
    default:
      guard let version = UInt64(text) else { throw Wrong("a condition is if=absent, if=present or if=VERSION") }
      return .version(version)
    }
  }

  private static func requirement(_ word: [UInt8]) throws(Wrong) -> Operation.Requirement {
    let value = Array("value=".utf8)
    if word.starts(with: value) { return .value(Array(word.dropFirst(value.count))) }
    let text = String(decoding: word, as: UTF8.self)
    switch text {
    case "absent": return .absent
    case "present": return .present
    default:
      guard text.hasPrefix("version="), let version = UInt64(text.dropFirst("version=".count)) else {
        throw Wrong("a check is absent, present, version=N or value=TEXT")
      }
      return .version(version)
    }
  }
}

extension OperationLine {
  private static func parseJSON(_ line: [UInt8]) throws(Wrong) -> Operation? {
    if line.allSatisfy(\.isBlank) { return nil }
    let fields: JSONFields
    do throws(JSONFields.Problem) { fields = try JSONFields(line: line) } catch { throw Wrong("\(error)") }
    guard let name = fields.string("op") else { throw Wrong("'op' must name an operation: \(usage)") }
    guard let key = fields.bytes("key"), !key.isEmpty else { throw Wrong("'key' or 'keyBase64' must be a key") }
    var known: Swift.Set = ["op", "key", "keyBase64"]
    let operation: Operation
    switch name {
    case "set":
      return try setJSON(fields)
    case "del": operation = .delete(key)
    case "persist": operation = .persist(key)
    case "append":
      known.formUnion(["value", "valueBase64"])
      guard let value = fields.bytes("value") else { throw Wrong("'value' or 'valueBase64' must be what to append") }
      operation = .append(key, value)
    case "rename":
      known.formUnion(["to", "toBase64"])
      guard let new = fields.bytes("to"), !new.isEmpty else { throw Wrong("'to' or 'toBase64' must be the new name") }
      operation = .rename(key, new)
    case "expire":
      known.insert("ttlMilliseconds")
      guard let ttl = try ttl(fields) else { throw Wrong("'ttlMilliseconds' is missing") }
      operation = .expire(key, ttl)
    case "incr":
      known.insert("amount")
      guard case .number(let text) = fields["amount"] ?? .number("1"), let amount = Int(text) else {
        throw Wrong("'amount' must be a whole number of 64 bits")
      }
      operation = .increment(key, amount)
    case "check":
      known.formUnion(["if", "ifVersion", "ifValue", "ifValueBase64"])
      guard let requirement = try requirement(fields) else {
        throw Wrong("a check needs 'if' (absent, present), 'ifVersion' or 'ifValue'")
      }
      operation = .check(key, requirement)
    default: throw Wrong("no operation '\(name.printable)'; there are: \(usage)")
    }
    try refuse(fields, known)
    return operation
  }

  private static func setJSON(_ fields: JSONFields) throws(Wrong) -> Operation {
    var record: OwnedRecord
    let others: Swift.Set = ["op", "ttlMilliseconds", "if", "ifVersion", "ifValue", "ifValueBase64"]
    do throws(JSONForm.Wrong) { record = try OwnedRecord(fields, others: others) } catch { throw Wrong(error.message) }
    // In a dump the text of a json value; here the value, as `get --json` prints it.
    if record.type == .json, case .string(let text)? = fields["value"] { record.value = JSONText.quoted(text) }
    if !record.isOpaque, let kind = ValueKind(record.type), kind == .json || kind == .string {
      do throws(Complaint) { _ = try TypedValue(record.value, as: kind) } catch { throw Wrong(error.message) }
    }
    return .set(record, ttl: try ttl(fields), try requirement(fields))
  }

  private static func ttl(_ fields: JSONFields) throws(Wrong) -> TimeSpan? {
    guard fields["ttlMilliseconds"] != nil else { return nil }
    guard let number = fields.unsigned("ttlMilliseconds"), number > 0,
      number < Operation.mostMillisecondsToLive
    else {
      throw Wrong("'ttlMilliseconds' must be a whole number above 0")
    }
    return TimeSpan(milliseconds: Int(number))
  }

  private static func requirement(_ fields: JSONFields) throws(Wrong) -> Operation.Requirement? {
    let given = ["if", "ifVersion", "ifValue", "ifValueBase64"].filter { fields[$0] != nil }
    guard let name = given.first else { return nil }
    guard given.count == 1 else { throw Wrong("one condition only: \(given.joined(separator: ", "))") }
    switch name {
    case "if":
      if fields.string(name) == "absent" { return .absent }
      if fields.string(name) == "present" { return .present }
      throw Wrong("'if' is absent or present")
    case "ifVersion":
      guard let version = fields.unsigned(name) else { throw Wrong("'ifVersion' must be a whole number") }
      return .version(version)
    default:
      guard let value = fields.bytes("ifValue") else { throw Wrong("'ifValue' must be text, 'ifValueBase64' base64") }
      return .value(value)
    }
  }

  private static func refuse(_ fields: JSONFields, _ known: Swift.Set<String>) throws(Wrong) {
    for name in fields.names where !known.contains(name) {
      throw Wrong("'\(name.printable)' is no part of this operation; leave it out")
    }
  }
}

extension OwnedRecord {
  init<T: TableValue>(key: [UInt8], _ value: T) {
    self.init(key: key, value: unsafe value.withTableBytes { bytes in unsafe [UInt8](bytes) }, type: T.tableType)
  }
}
