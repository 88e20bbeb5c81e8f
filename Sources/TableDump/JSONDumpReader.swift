import SharedTable
import TableEngine
internal import ToolSupport

/// Reads a dump's lines of JSON: also those that people wrote or edited.
struct JSONDumpReader: DumpReading {
  let header: DumpHeader
  private var input: DumpInput
  private let longestValue: Int
  private let longestLine: Int
  private var number: UInt64
  private var records: UInt64 = 0
  private var isAtEnd = false

  init(_ input: DumpInput, longestValue: Int) throws {
    var input = input
    self.longestValue = longestValue
    // Each byte takes up to six, as \u00NN.
    longestLine = 6 * (Table.keyLengths.upperBound + max(0, longestValue)) + 4096
    var number: UInt64 = 0
    guard let fields = try Self.fields(&input, &number, longestLine) else {
      throw DumpProblem(.truncated, at: .line(1), "the dump has no header")
    }
    header = try Self.header(fields)
    self.input = input
    self.number = number
  }

  mutating func next(_ batch: inout DumpBatch) throws -> Bool {
    batch.removeAll()
    while !isAtEnd, batch.storage.count < BinaryForm.blockBytes, batch.count < 8192 {
      guard let fields = try Self.fields(&input, &number, longestLine) else {
        throw DumpProblem(
          .truncated, at: .line(number + 1),
          "the dump ends here, without {\"end\":true}; get it whole, or add that line if it is to be loaded as it is")
      }
      if fields["end"] != nil {
        try end(fields)
      } else {
        try append(fields, to: &batch)
      }
    }
    return !batch.isEmpty
  }

  private mutating func append(_ fields: JSONFields, to batch: inout DumpBatch) throws {
    let record: (key: [UInt8], value: [UInt8], attributes: ValueAttributes, version: UInt64)
    do throws(JSONForm.Wrong) {
      record = try JSONForm.record(fields)
    } catch {
      throw DumpProblem(.damaged, at: .line(number), error.message)
    }
    if record.value.count > longestValue {
      throw DumpProblem(valueOf: record.value.count, longest: longestValue, at: .line(number))
    }
    let start = batch.storage.count
    batch.storage += record.key
    batch.storage += record.value
    let middle = start + record.key.count
    batch.items.append(
      DumpBatch.Item(
        key: start..<middle, value: middle..<batch.storage.count, attributes: record.attributes,
        version: record.version))
    records += 1
  }

  private mutating func end(_ fields: JSONFields) throws {
    guard fields["end"] == .bool(true), fields.names.allSatisfy(["end", "records"].contains) else {
      throw DumpProblem(.damaged, at: .line(number), "this is no end; it is {\"end\":true,\"records\":N}")
    }
    if fields["records"] != nil, fields.unsigned("records") != records {
      throw DumpProblem(
        .damaged, at: .line(number),
        "the end speaks of other than the \(records) records before it; leave 'records' out if you edited the dump")
    }
    isAtEnd = true
    if let fields = try Self.fields(&input, &number, longestLine), !fields.names.isEmpty {
      throw DumpProblem(.damaged, at: .line(number), "the dump has ended, and more follows")
    }
  }

  /// The next line that is not empty; nil at the end.
  private static func fields(
    _ input: inout DumpInput, _ number: inout UInt64, _ limit: Int
  ) throws -> JSONFields? {
    while true {
      let line: [UInt8]
      switch try input.line(limit: limit) {
      case .none: return nil
      case .cut: throw DumpProblem(.truncated, at: .line(number + 1), "the dump ends here, inside a line")
      case .tooLong: throw DumpProblem(.tooLarge, at: .line(number + 1), "a line of more than \(limit) bytes")
      case .whole(let whole): line = whole
      }
      number += 1
      if line.allSatisfy(\.isBlank) { continue }
      do throws(JSONFields.Problem) {
        return try JSONFields(line: line)
      } catch {
        throw DumpProblem(.damaged, at: .line(number), "\(error)")
      }
    }
  }

  private static func header(_ fields: JSONFields) throws -> DumpHeader {
    guard fields.string("dump") == JSONForm.name else {
      throw DumpProblem(.notADump, at: .line(1), "no dump of a table: it has no \"dump\":\"\(JSONForm.name)\"")
    }
    guard let format = fields.unsigned("format"), format == JSONForm.version else {
      throw DumpProblem(.otherFormat, at: .line(1), "a dump of another format; this release reads 1")
    }
    for name in fields.names where !JSONForm.headerNames.contains(name) {
      throw DumpProblem(.damaged, at: .line(1), "'\(name.printable)' is no part of a dump's first line; leave it out")
    }
    // One that is lost would be all keys to whoever replaces what the dump is of.
    let isOfPart = fields["prefix"] != nil || fields["prefixBase64"] != nil
    guard !isOfPart || fields.bytes("prefix") != nil else {
      throw DumpProblem(.damaged, at: .line(1), "'prefix' is a text, or 'prefixBase64' base64, and not both")
    }
    let variant: Table.Variant = fields.string("variant") == "rwlock" ? .rwlock : .rcu
    // What people write by hand needs none of these.
    return DumpHeader(
      table: fields.string("table") ?? "", variant: variant,
      capacityBytes: fields.unsigned("capacityBytes").flatMap { Int(exactly: $0) } ?? 0,
      version: fields.unsigned("version") ?? 0, taken: fields.unsigned("takenNanoseconds") ?? 0,
      keyCount: fields.unsigned("keyCount") ?? 0, prefix: fields.bytes("prefix") ?? [])
  }
}
