import SharedTable
import TableEngine
import TableTestSupport
import Testing

/// A put in place of a value that is there: the key is sought once.
@Suite struct ReplaceTests {
  private static func replace(_ key: String, _ segment: Segment) throws -> Bool {
    try key.withKeyBytes { key throws(EngineError) in
      try [UInt8(7)].withTableBytes { bytes throws(EngineError) in
        try segment.replace(key, hash: segment.hash(key), bytes, ValueAttributes(type: ValueType.bytes.rawValue)) {
          ExpiryClock()
        }
      }
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func onlyWhatIsThereIsReplaced(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      for key in ["there", "removed", "expired"] { try table.set(key, [UInt8(1)]) }
      try table.remove("removed")
      try table.set("expired", [UInt8(1)], expires: .at(nanosecondsSince1970: 1))
      let count = table.count
      try table.barrier { tx in
        #expect(try Self.replace("there", segment))
        for key in ["absent", "removed", "expired"] { #expect(try !Self.replace(key, segment), "\(key)") }
        try tx.set("new", [UInt8(1)])
        #expect(try Self.replace("new", segment))
      }
      for key in ["there", "new"] { #expect(try table.get(key, as: [UInt8].self) == [7]) }
      #expect(try table.get("absent", as: [UInt8].self) == nil && table.count == count + 1)
      #expect(try table.check() == [])
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func aBarrierOfSomeKeysReplacesWhatItSees(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      try table.set("there", [UInt8(1)])
      try table.set("taken", [UInt8(1)])
      try table.barrier(keys: ["there", "taken", "new"]) { tx in
        try tx.remove("taken")
        try tx.set("new", [UInt8(1)])
        #expect(try Self.replace("there", segment))
        #expect(try Self.replace("new", segment))
        #expect(try !Self.replace("taken", segment))
      }
      for key in ["there", "new"] { #expect(try table.get(key, as: [UInt8].self) == [7]) }
      #expect(try !table.contains("taken"))
    }
  }
}
