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
    print(table.segment.statistics)
    for i in 0..<20000 { try table.remove("key\(i)") }
    _ = try table.maintain()
    print(table.segment.statistics)
    #expect(table.count == 1)
  }
}
