import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// A store, a dump and a copy take all that a table holds to another one, which hashes with a seed of its own. A cache's ledger
/// names elements by their hashes.
@Suite struct MovedTableTests {
  /// As it is there, but for the forms of structures.
  private func copy(_ table: Table, to other: Table) throws {
    var entries: [(key: [UInt8], bytes: [UInt8], type: ValueType)] = []
    try table.read { view in
      try view.forEach { key, entry in
        entries.append(
          (
            unsafe key.withUnsafeBytes { unsafe [UInt8]($0) },
            unsafe entry.bytes.withUnsafeBytes { unsafe [UInt8]($0) },
            entry.type ?? .bytes
          ))
      }
    }
    try other.barrier { tx in
      for entry in entries {
        let type = entry.type == .structure ? ValueType.bytes : entry.type
        try entry.bytes.withUnsafeBytes { bytes in try unsafe tx.set(entry.key, bytes: bytes, type: type) }
      }
    }
  }

  private func withMoved(
    _ limit: CacheLimit, cost: (Int) -> Int? = { _ in nil }, _ body: (Table, SharedCache<Int, Int>) throws -> Void
  ) throws {
    try withTable(.rcu) { before in
      let cache = try SharedCache<Int, Int>("c", in: before, limit: limit)
      for key in 0..<200 { try cache.set(key, key, cost: cost(key)) }
      try withTable(.rcu) { table in
        try copy(before, to: table)
        #expect(try table.checkCollections() == [])
        let moved = try SharedCache<Int, Int>("c", in: table, limit: limit)
        #expect(try moved.count == 200 && moved[7] == 7)
        try body(table, moved)
        #expect(try table.checkCollections() == [])
      }
    }
  }

  @Test func aCacheInAnotherTableIsEmptied() throws {
    try withMoved(.entries(1000)) { table, cache in
      try cache.removeAll()
      #expect(try cache.count == 0)
      for key in 0..<200 { #expect(try cache[key] == nil) }
    }
  }

  @Test func aCacheInAnotherTableCountsEachElementOnce() throws {
    try withMoved(.bytes(1 << 20), cost: { 100 + $0 }) { table, cache in
      try cache.set(3, 33, cost: 7)
      #expect(try cache.count == 200)
      // What its elements cost there they cost here.
      #expect(try cache.totalCost == (0..<200).reduce(0) { $0 + 100 + $1 } - 103 + 7)
      #expect(try cache.remove(4))
      #expect(try cache.count == 199)
      #expect(try problems(table) == [])
    }
  }

  @Test func aCacheInAnotherTableKeepsItsLimit() throws {
    try withMoved(.entries(200)) { table, cache in
      for key in 1000..<1200 { try cache.set(key, key) }
      let elements = try (0..<1200).count { try cache[$0] != nil }
      #expect(try cache.count == 200 && elements == 200)
      #expect(try problems(table) == [])
    }
  }

  /// Neither the elements nor a second ledger fit: some go.
  @Test(arguments: Table.Variant.allCases) func aCacheInAnotherTableThatIsFullGoesOn(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 3 << 20) { table in
      let cache = try SharedCache<Int, Int>("c", in: table, limit: .entries(1_000_000))
      for key in 0..<10_000 { try cache.set(key, key) }
      var head = try #require(try table.entry(forKey: "c")?.bytes)
      head[71] ^= 1
      try table.barrier { tx in try head.withUnsafeBytes { try unsafe tx.set("c", bytes: $0, type: .bytes) } }
      for size in [10_000, 8] {
        let value = [UInt8](repeating: 1, count: size)
        var filled = 0
        while error({ try table.set("filled/\(size)/\(filled)", value) }) == nil { filled += 1 }
      }
      try cache.set(-1, 7)
      #expect(try cache[-1] == 7)
      let count = try cache.count
      #expect(count > 1_000 && count <= 10_001)
      #expect(try problems(table) == [])
      try cache.removeAll()
      #expect(try cache.count == 0 && cache[9_999] == nil)
    }
  }

  /// One that an earlier release has stored does not say whose it is.
  @Test func aHeadWithoutASeedIsMadeAnew() throws {
    try withTable(.rcu) { table in
      let cache = try SharedCache<Int, Int>("c", in: table, limit: .entries(100))
      for key in 0..<50 { try cache.set(key, key) }
      let head = try #require(try table.entry(forKey: "c")?.bytes)
      #expect(head.count == 72)
      try table.barrier { tx in
        try head.withUnsafeBytes { bytes in
          try unsafe tx.set("c", bytes: UnsafeRawBufferPointer(rebasing: bytes[..<64]), type: .bytes)
        }
      }
      #expect(try cache.count == 50)
      try cache.set(3, 33)
      #expect(try cache.count == 50 && table.entry(forKey: "c")?.bytes.count == 72)
      #expect(try problems(table) == [])
    }
  }
}
