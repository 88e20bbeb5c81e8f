import Testing

@testable import SharedTable

@Suite struct SmokeTests {
  @Test func setThenGet() throws {
    let table = try Table.temporary()
    try table.set("a", "hello")
    try table.set("b", 42)
    #expect(try table.get("a", as: String.self) == "hello")
    #expect(try table.get("b", as: Int.self) == 42)
    #expect(try table.get("c", as: Int.self) == nil)
    #expect(table.count == 2)
    #expect(try table.increment("b") == 43)
    #expect(try table.remove("a"))
    #expect(table.count == 1)
    #expect(throws: (any Error).self) {
      try table.barrier { tx in
        try tx.set("x", 1)
        throw CancellationError()
      }
    }
    #expect(try table.get("x", as: Int.self) == nil)
    for i in 0..<20000 { try table.set("key\(i)", i) }
    for i in 0..<20000 { #expect(try table.get("key\(i)", as: Int.self) == i) }
    for i in 0..<20000 { try table.set("key\(i)", i + 1) }
    let n = try table.read { v in try v.count() }
    #expect(n == 20001)

    for i in 0..<20000 { try table.remove("key\(i)") }
    _ = try table.maintain()

    #expect(table.count == 1)
  }
}

extension SmokeTests {
  @Test func rwlockVariant() throws {
    let table = try Table.temporary(variant: .rwlock)
    for i in 0..<20000 { try table.set("key\(i)", i) }
    for i in 0..<20000 { #expect(try table.get("key\(i)", as: Int.self) == i) }
    for i in 0..<20000 { try table.set("key\(i)", i + 1) }
    #expect(throws: (any Error).self) {
      try table.barrier { tx in
        try tx.set("key1", 0)
        try tx.remove("key2")
        throw CancellationError()
      }
    }
    #expect(try table.get("key1", as: Int.self) == 2)
    #expect(try table.get("key2", as: Int.self) == 3)
    for i in 0..<20000 { try table.remove("key\(i)") }
    #expect(table.count == 0)

  }

  @Test func observerReads() throws {
    for variant in Table.Variant.allCases {
      let name = "smoke.\(UInt64.random(in: 0 ... .max))"
      let table = try Table.create(name, Table.Options(variant: variant, capacityBytes: 8 << 20))
      defer { try? Table.drop(name) }
      for i in 0..<5000 { try table.set("key\(i)", "value\(i)") }
      let observer = try Table.open(name, access: .observer)
      for i in 0..<5000 { #expect(try observer.get("key\(i)", as: String.self) == "value\(i)") }
      #expect(try observer.get("nope", as: String.self) == nil)
      let n = try observer.read { v in try v.keys(prefix: "key1").count }
      #expect(n == 1111)
      #expect(throws: TableError.self) { try observer.set("a", 1) }
    }
  }

  @Test func snapshotsKeepTheirVersion() throws {
    let table = try Table.temporary()
    for i in 0..<1000 { try table.set("key\(i)", i) }
    let snapshot = try table.snapshot()
    for round in 0..<3 {
      for i in 0..<1000 { try table.set("key\(i)", i + 1000 * round + 1) }
      for i in 0..<1000 where i % 3 == 0 { try table.remove("key\(i)") }
      for i in 0..<1000 { #expect(try snapshot.get("key\(i)", as: Int.self) == i) }
    }
    let n = try snapshot.read { v in try v.count() }
    #expect(n == 1000)

  }
}
