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
      try table.set("a", "value", expires: .at(nanosecondsSince1970: Self.expiry))
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
      try table.set("a", "value", expires: .at(nanosecondsSince1970: Self.expiry))
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
    let entry = try #require(try table.entry(forKey: "a"))
    #expect(entry.expiry == Self.expiry)
    #expect(try table.get("a") == "value")
  }

  @Test(arguments: Table.Variant.allCases) func aKeyMayBeRenamedToItself(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.set("a", "value", expires: .at(nanosecondsSince1970: Self.expiry))
      try table.barrier { (tx: inout Transaction) throws in #expect(try tx.rename("a", to: "a")) }
      try expectUnchanged(table)
      try table.barrier(keys: ["a"]) { (tx: inout Transaction) throws in #expect(try tx.rename("a", to: "a")) }
      try expectUnchanged(table)
      try table.barrier { (tx: inout Transaction) throws in #expect(try !tx.rename("none", to: "a")) }
      try expectUnchanged(table)
    }
  }

  /// In the lengths of keys in which the value is aligned without padding, the entry does not say what its type asks for.
  @Test(arguments: Table.Variant.allCases) func aStructStaysAlignedUnderAnotherKeyAndWithAnotherExpiry(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      for length in 1...16 {
        let key = String(repeating: "a", count: length)
        for newLength in 1...16 {
          let newKey = String(repeating: "b", count: newLength)
          let changes: [(inout Transaction) throws -> Void] = [
            { tx in try tx.set(key, Wide()) },
            { tx in try tx.setExpiration(.at(nanosecondsSince1970: Self.expiry), of: key) },
            { tx in try tx.setExpiration(.never, of: key) },
            { tx in try tx.rename(key, to: newKey) },
            { tx in try tx.setExpiration(.at(nanosecondsSince1970: Self.expiry), of: newKey) },
            { tx in try tx.rename(newKey, to: key) },
            { tx in try tx.setExpiration(.never, of: key) },
          ]
          for (step, change) in changes.enumerated() {
            if length.isMultiple(of: 2) {
              try table.barrier { (tx: inout Transaction) throws in try change(&tx) }
            } else {
              try table.barrier(keys: [key, newKey]) { (tx: inout Transaction) throws in try change(&tx) }
            }
            let place = try #require(try place(of: step == 3 || step == 4 ? newKey : key, in: table))
            #expect(place % MemoryLayout<Wide>.alignment == 0, "\(length) to \(newLength), step \(step)")
          }
          #expect(try table.get(key) == Wide())
        }
      }
    }
  }

  struct Wide: SharedStruct, Equatable {
    static let schemaName = "example.wide"
    var numbers = SIMD4<Float>(1, 2, 3, 4)
  }

  /// The address of a value where it lies.
  private func place(of key: String, in table: Table) throws -> Int? {
    try table.read { view in
      try view.bytes(forKey: key)?.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
    }
  }
}
