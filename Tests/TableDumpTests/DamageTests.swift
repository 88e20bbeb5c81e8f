import SharedTable
import TableDump
import Testing

@Suite struct DamageTests {
  private func small(json: Bool) throws -> [UInt8] {
    let table = try Table.temporary()
    try table.set("a", 1)
    try table.set("b", "two", expires: .at(nanosecondsSince1970: 7_258_118_400_000_000_000))
    try table.set("c", Sample(time: 3, value: 3))
    return try DumpBytes.of(table, json: json)
  }

  private func problem(_ bytes: [UInt8]) throws -> DumpProblem? {
    do {
      var reader = try DumpReader(longestValue: 1 << 20, source: DumpBytes.source(bytes))
      var batch = DumpBatch()
      while try reader.next(&batch) {}
      return nil
    } catch let problem as DumpProblem {
      return problem
    }
  }

  /// A prefix that is lost would be all keys.
  @Test(arguments: [
    #""prefx":"user:""#, #""prefix":null"#, #""prefix":7"#, #""prefixBase64":"%""#,
    #""prefix":"user:","prefixBase64":"dXNlcjo=""#,
  ])
  func aFirstLineWithoutAClearPrefixIsRefused(_ member: String) throws {
    let line = "{\"dump\":\"shmtable\",\"format\":1,\(member)}\n{\"end\":true}\n"
    let found = try #require(try problem(Array(line.utf8)))
    #expect(found.kind == .damaged && found.message.contains("prefx") || found.message.contains("prefixBase64"))
    #expect(try problem(Array(line.replacing(member, with: #""prefix":"user:""#).utf8)) == nil)
  }

  @Test func anyJSONIsAValueOfTypeJSON() throws {
    let lines = """
      {"dump":"shmtable","format":1}
      {"key":"a","value":null}
      {"key":"b","type":"json","value":null}
      {"key":"c","type":"json","value":-5.50}
      {"key":"d","type":"json","value":true}
      {"key":"e","type":"json","value":[1, {}]}
      {"end":true}

      """
    let table = try Table.temporary()
    _ = try DumpBytes.load(Array(lines.utf8), into: table)
    for (key, text) in ["a": "null", "b": "null", "c": "-5.50", "d": "true", "e": "[1,{}]"] {
      let entry = try #require(try table.entry(forKey: key))
      #expect(entry.type == .json && entry.bytes == Array(text.utf8), "\(key)")
    }
    let wrong = lines.replacing(#""type":"json","value":true"#, with: #""type":"string","value":null"#)
    #expect(try problem(Array(wrong.utf8))?.message == "the value is not of the record's type")
  }

  /// In the pass that checks a dump, and not when the records before it are stored.
  @Test(arguments: [false, true]) func aValueThatIsTooLongIsFound(_ json: Bool) throws {
    let table = try Table.temporary(capacityBytes: 8 << 20)
    for index in 0..<3000 { try table.set("small\(index)", index) }
    try table.set("large", [UInt8](repeating: 7, count: 30_000))
    let dump = try DumpBytes.of(table, json: json)
    func problem(_ longest: Int) throws -> DumpProblem? {
      do {
        var reader = try DumpReader(longestValue: longest, source: DumpBytes.source(dump))
        var batch = DumpBatch()
        while try reader.next(&batch) {}
        return nil
      } catch let problem as DumpProblem {
        return problem
      }
    }
    #expect(try problem(30_000) == nil)
    #expect(try problem(29_999)?.kind == .tooLarge)
  }

  @Test func aWholeNumberThatNoIntegerHoldsIsNotRounded() throws {
    let line =
      #"{"dump":"shmtable","format":1}"# + "\n" + #"{"key":"a","value":NUMBER}"# + "\n" + #"{"end":true}"# + "\n"
    for (number, isRead) in [
      ("9223372036854775807", true), ("9223372036854775808", false), ("9223372036854775808.0", true), ("1e19", true),
    ] {
      #expect(try (problem(Array(line.replacing("NUMBER", with: number).utf8)) == nil) == isRead, "\(number)")
    }
  }

  @Test func everyFlippedBitOfTheBinaryFormIsFound() throws {
    let dump = try small(json: false)
    #expect(try problem(dump) == nil)
    for index in dump.indices {
      for bit in 0..<8 {
        var damaged = dump
        damaged[index] ^= 1 << bit
        #expect(try problem(damaged) != nil, "byte \(index), bit \(bit)")
      }
    }
  }

  @Test func everyPlaceToCutADumpIsFound() throws {
    for json in [false, true] {
      let dump = try small(json: json)
      for count in dump.indices {
        let found = try problem(Array(dump[..<count]))
        #expect(found?.kind == .truncated || found?.kind == .notADump, "cut to \(count): \(String(describing: found))")
      }
    }
  }

  @Test func linesWithAnyFlippedByteNeverCrashAndTellTheirLine() throws {
    let dump = try small(json: true)
    for index in dump.indices {
      for byte in [0, 0x22, 0x5c, 0x7b, 0xff, dump[index] ^ 1] as [UInt8] where byte != dump[index] {
        var damaged = dump
        damaged[index] = byte
        let line = UInt64(dump[..<index].filter { $0 == 10 }.count) + 1
        // Text has no checksum: a flipped letter may be another valid dump.
        if let found = try problem(damaged), case .line(let said) = found.place {
          #expect(said >= line && said <= line + 1 || found.kind != .damaged, "\(index) \(found)")
        }
      }
    }
  }

  @Test func whatFollowsTheEndIsRefused() throws {
    for json in [false, true] {
      let dump = try small(json: json)
      #expect(try problem(dump + dump)?.kind == .damaged)
    }
  }

  @Test func blocksThatAreMissingOrSwappedAreFound() throws {
    let table = try Table.temporary(capacityBytes: 16 << 20)
    for name in ["a", "b"] { try table.set(name, [UInt8](repeating: 1, count: 300_000)) }
    let dump = try DumpBytes.of(table)
    let blocks = Self.blocks(dump)
    #expect(blocks.count == 4)
    func joined(_ order: [Int]) -> [UInt8] { Array(dump[..<12]) + order.flatMap { dump[blocks[$0]] } }
    #expect(try problem(joined([0, 1, 2, 3])) == nil)
    for order in [[0, 2, 1, 3], [0, 1, 3], [0, 1, 1, 2, 3], [1, 2, 3], [0, 1, 2]] {
      #expect(try problem(joined(order)) != nil, "\(order)")
    }
  }

  @Test func aLengthThatCannotBeTakesNoRoom() throws {
    var dump = try small(json: false)
    for index in 12 + 16..<12 + 24 { dump[index] = 0x7f }
    #expect(try problem(dump)?.kind == .tooLarge)
  }

  private static func blocks(_ dump: [UInt8]) -> [Range<Int>] {
    var result: [Range<Int>] = []
    var position = 12
    while position < dump.count {
      let length = dump[position + 16..<position + 24].reversed().reduce(0) { $0 << 8 | Int($1) }
      result.append(position..<position + 24 + length)
      position += 24 + length
    }
    return result
  }
}
