import SharedTable
import TableTestSupport
import Testing

/// Values get another key or expiry and stay what they are.
@Suite struct RewriteTests {
  static let expiry: UInt64 = 4_000_000_000_000_000_000

  /// A barrier that catches the error commits all the same.
  @Test(arguments: Table.Variant.allCases) func aRenamingThatFailsLeavesTheValueWithItsExpiry(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant, capacityBytes: 1 << 20) { table throws in
      try table.set("a", "value", expires: .at(Self.expiry))
      let filling = [UInt8](repeating: 7, count: 1000)
      var stored = 0
      while stored < 5000, code({ try table.set("k\(stored)", filling) }) == nil { stored += 1 }
      let names: [(String, TableError.Code)] = [
        ("", .invalid), (String(repeating: "b", count: 65537), .tooLarge),
        (String(repeating: "b", count: 60000), .full),
      ]
      for (name, expected) in names {
        try table.barrier { (tx: inout Transaction) throws in
          #expect(code { try tx.rename("a", to: name) } == expected)
          #expect(try tx.get("a") == "value")
          try tx.set("k0", filling)
        }
        try expectUnchanged(table)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func aRenamingThatFailsInABarrierOfSomeKeysLeavesTheValueWithItsExpiry(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      try table.set("a", "value", expires: .at(Self.expiry))
      let names: [(String, TableError.Code)] = [
        ("b", .invalid), ("", .invalid), ("a/" + String(repeating: "b", count: 65536), .tooLarge),
      ]
      for (name, expected) in names {
        try table.barrier(keys: ["a"]) { (tx: inout Transaction) throws in
          #expect(code { try tx.rename("a", to: name) } == expected)
          try tx.set("a/other", 1)
        }
        try expectUnchanged(table)
        #expect(try table.get("a/other") == 1)
      }
    }
  }

  private func expectUnchanged(_ table: Table) throws {
    let entry = try #require(try table.entry("a"))
    #expect(entry.expiry == Self.expiry)
    #expect(try table.get("a") == "value")
  }

  @Test(arguments: Table.Variant.allCases) func aKeyMayBeRenamedToItself(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.set("a", "value", expires: .at(Self.expiry))
      try table.barrier { (tx: inout Transaction) throws in #expect(try tx.rename("a", to: "a")) }
      try expectUnchanged(table)
      try table.barrier(keys: ["a"]) { (tx: inout Transaction) throws in #expect(try tx.rename("a", to: "a")) }
      try expectUnchanged(table)
      try table.barrier { (tx: inout Transaction) throws in #expect(try !tx.rename("none", to: "a")) }
      try expectUnchanged(table)
    }
  }
}
