import SharedTable
import TableDump
import Testing

@Suite struct RoundTripTests {
  @Test(arguments: [Table.Variant.rcu, .rwlock], [false, true])
  func aDumpCarriesEverythingAsItIs(variant: Table.Variant, json: Bool) throws {
    let source = try Table.varied(variant: variant)
    let dump = try DumpBytes.of(source, json: json)
    for piece in [1, 7, Int.max] {
      let target = try Table.temporary()
      let header = try DumpBytes.load(dump, into: target, piece: piece)
      #expect(try DumpBytes.contents(target) == DumpBytes.contents(source))
      #expect(try target.get("struct", as: Sample.self)?.value == 2.5)
      #expect(header.table == source.name && header.version == source.version && header.variant == variant)
      #expect(header.keyCount == UInt64(source.count))
    }
  }

  @Test(arguments: [false, true])
  func aPrefixIsAllThatIsDumped(json: Bool) throws {
    let source = try Table.varied()
    let target = try Table.temporary()
    let header = try DumpBytes.load(DumpBytes.of(source, json: json, prefix: Array("struct".utf8)), into: target)
    #expect(try target.read { view in try view.keys() } == [Array("struct".utf8), Array("struct-".utf8)])
    #expect(header.prefix == Array("struct".utf8))
  }

  @Test(arguments: [false, true])
  func manyRecordsAndLongValuesTakeManyBlocks(json: Bool) throws {
    let source = try Table.temporary(capacityBytes: 32 << 20)
    for start in stride(from: 0, to: 20_000, by: 1000) {
      try source.barrier { tx in for index in start..<start + 1000 { try tx.set("key-\(index)", index) } }
    }
    try source.set("long", [UInt8](repeating: 0xa5, count: 3 << 20))
    let target = try Table.temporary(capacityBytes: 32 << 20)
    _ = try DumpBytes.load(DumpBytes.of(source, json: json), into: target)
    #expect(target.count == 20_001)
    #expect(try target.get("key-19999", as: Int.self) == 19_999)
    #expect(try target.bytes(forKey: "long")?.count == 3 << 20)
  }

  @Test func linesWrittenByHandAreADump() throws {
    let table = try Table.temporary()
    let text = #"""
      {"dump": "shmtable", "format": 1}

      {"key": "a", "value": "text"}
      {"key": "b", "value": -7}
      {"key": "c", "value": 2.5}
      {"key": "d", "value": {"x": [1, 2]}}
      {"key": "e", "value": "\ud83d\ude00\/\u0000"}
      {"key": "f", "value": 3, "type": "double"}
      {"end": true}
      """# + "\n"
    _ = try DumpBytes.load(Array(text.utf8), into: table)
    #expect(try table.get("a", as: String.self) == "text")
    #expect(try table.get("b", as: Int.self) == -7)
    #expect(try table.get("c", as: Double.self) == 2.5)
    #expect(try table.entry(forKey: "d")?.type == .json)
    #expect(try table.bytes(forKey: "d") == Array(#"{"x":[1,2]}"#.utf8))
    #expect(try table.get("e", as: String.self) == "\u{1f600}/\0")
    #expect(try table.get("f", as: Double.self) == 3)
  }

  /// Who came back with such a claim would wait for a process that computes nothing any more.
  @Test func whoComputesAValueIsNoPartOfADump() throws {
    let table = try Table.temporary()
    let cache = try SharedCache<String, Int>("c", in: table, limit: .entries(10))
    try cache.set("b", 1)
    let value = try cache.value(forKey: "a") {
      var (keys, records) = (0, 0)
      try table.read { view in
        keys = try view.keys().count
        try view.forEachRecord { _ in records += 1 }
      }
      #expect(keys == 4 && records == 3, "a head, a page, an element, and a claim")
      return 2
    }
    #expect(value == 2)
  }
}
