import SharedTable
import TableDump
import TableEngine

/// A dump in memory, and ways to make and read one.
struct DumpBytes {
  var bytes: [UInt8] = []

  static func of(_ table: Table, json: Bool = false, prefix: [UInt8] = []) throws -> [UInt8] {
    var result: [UInt8] = []
    try table.read { view in
      let header = view.dumpHeader(of: table, prefix: prefix)
      let sink: DumpSink = { result.append(contentsOf: $0) }
      var writer: any DumpWriter =
        json ? try JSONDumpWriter(header, to: sink) : try BinaryDumpWriter(header, to: sink)
      try view.forEachRecord(prefix: prefix) { record in try writer.append(record) }
      try writer.finish()
    }
    return result
  }

  /// Hands the bytes out in pieces of a size, so that every number is cut in two somewhere.
  static func source(_ bytes: [UInt8], piece: Int = .max) -> DumpFill {
    var position = 0
    return { buffer in
      let count = min(piece, buffer.count, bytes.count - position)
      buffer.replaceSubrange(..<count, with: bytes[position..<position + count])
      position += count
      return count
    }
  }

  static func load(_ bytes: [UInt8], into table: Table, piece: Int = .max) throws -> DumpHeader {
    var reader = try DumpReader(longestValue: table.maximumValueLength, source: source(bytes, piece: piece))
    var batch = DumpBatch()
    while try reader.next(&batch) {
      try table.barrier { tx in try batch.forEach { record in try tx.store(record) } }
    }
    return reader.header
  }

  /// What a table holds, as text that can be compared.
  static func contents(_ table: Table) throws -> [String] {
    var result: [String] = []
    try table.read { view in
      try view.forEachRecord { record in
        let a = record.attributes
        result.append(
          "\(record.keyBytes)=\(record.valueBytes) \(a.type) \(a.expiry) \(a.fingerprint) \(a.alignmentShift)")
      }
    }
    return result.sorted()
  }
}

struct Sample: SharedStruct {
  static let schemaName = "dump.sample"
  var time: UInt64
  var value: Double
}

extension Table {
  /// One of everything that a dump has to carry.
  static func varied(variant: Variant = .rcu) throws -> Table {
    let table = try Table.temporary(variant: variant)
    try table.set("string", "text \u{1f600}\n")
    try table.setEveryByte()
    try table.set("integer", -42)
    try table.set("double", 0.1)
    try table.set("infinity", Double.infinity)
    try table.set("bool", true)
    try table.set("bytes", [0, 255, 10] as [UInt8])
    try table.set("empty", "")
    try table.set("json", bytes: Array(#"{"a" : [1, "}"]}"#.utf8), type: .json)
    try table.set("no utf-8", bytes: [0xff, 0xfe], type: .string)
    try table.set([0, 10, 13, 0xff, 0x5c, 0x22] as [UInt8], "binary key")
    try table.set("expires", "later", expires: .at(nanosecondsSince1970: 7_258_118_400_000_000_000))
    try table.set("struct", Sample(time: 7, value: 2.5))
    try table.set("struct-", Sample(time: 8, value: 2.5), expires: .at(nanosecondsSince1970: 7_258_118_400_000_000_001))
    return table
  }

  /// Every byte as a key of its own, and in the middle of one.
  private func setEveryByte() throws {
    for byte in UInt8.min...UInt8.max {
      try set([byte], Int(byte))
      try set([UInt8(ascii: "k"), byte, UInt8(ascii: "k")], [byte, byte])
    }
  }
}
