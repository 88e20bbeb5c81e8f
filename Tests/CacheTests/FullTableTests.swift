import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// A cache in a table that has no room.
@Suite struct FullTableTests {
  /// Each eviction changes a page, and each page may come to be of another size. For so many sizes the table has no room in one barrier.
  @Test(arguments: Table.Variant.allCases)
  func evictionsLeaveNoLineWithoutItsElement(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 3 << 20) { table in
      let cache = try SharedCache<Int, Int>("c", in: table, limit: .entries(1_000_000))
      for key in 0..<4000 { try cache.set(key, key) }
      try fillInEverySize(table)
      for round in 1...10 {
        #expect(try cache.core.evictSome(64, timeout: nil) == 64)
        #expect(try cache.count == 4000 - round * 64)
        #expect(try problems(table) == [])
      }
      // With room again, one barrier evicts all that is left.
      try removeFilling(table)
      #expect(try cache.core.evictSome(4000, timeout: nil) == 4000 - 10 * 64)
      #expect(try cache.count == 0)
    }
  }

  /// In several barriers, since one has no room for the tombstones.
  @Test func whatIsRemovedWithAllOthersIsNotEvicted() throws {
    try withTable(.rcu, capacityBytes: 3 << 20) { table in
      let cache = try SharedCache<Int, Int>("c", in: table, limit: .entries(1_000_000))
      for key in 0..<20_000 { try cache.set(key, key) }
      try fillInEverySize(table)
      let refusal = #expect(throws: TableError.self) { try cache.core.removeAllAtOnce(nil) }
      #expect(refusal?.code == .full)
      try cache.removeAll()
      #expect(try cache.count == 0)
      #expect(try cache.evictionCount == 0)
    }
  }

  /// Room is made for the barrier of a removal, or of a write that is to replace something: not by what it is about.
  @Test(arguments: Table.Variant.allCases) func noWriteEvictsWhatItIsAbout(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 3 << 20) { table in
      let cache = try SharedCache<Int, [UInt8]>("c", in: table, limit: .entries(1_000_000))
      let value = [UInt8](repeating: 1, count: 5000)
      for key in 0..<12 { try cache.set(key, value) }
      try fillInEverySize(table)
      #expect(try cache.evictionCount == 0)
      #expect(try cache.set(0, value + value, if: .present))
      #expect(try cache.evictionCount > 0, "there was no room")
      #expect(try cache[0] == value + value)
    }
  }

  /// Whether its own barrier has room or not.
  @Test(arguments: Table.Variant.allCases) func aRemovalEvictsNotItsOwnElement(_ variant: Table.Variant) throws {
    try withTable(variant) { table in
      let cache = try SharedCache<Int, Int>("c", in: table, limit: .entries(1_000_000))
      for key in 0..<12 { try cache.set(key, key) }
      let full = TableError(.full, table: table.name, "full")
      let attempts = Counter()
      let key = cache.element(0)
      let hash = unsafe key.withUnsafeBytes { unsafe table.segment.hash($0) }
      try cache.core.tryAgain(after: full, evictingFor: 0, sparing: hash, nil) { tx throws(TableError) in
        attempts.increment()
        #expect(try tx.contains(key))
      }
      #expect(attempts.value == 1)
      #expect(try cache.count == 1 && cache.evictionCount == 11)
      #expect(try cache.core.evictSome(16, sparing: hash, timeout: nil) == 0)
      #expect(try cache.remove(0))
      #expect(try cache.core.evictSome(16, sparing: hash, timeout: nil) == 0)
      #expect(try problems(table) == [])
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func removingFromACacheThatWasNeverWrittenStoresNothing(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 3 << 20) { table in
      let cache = try SharedCache<Int, Int>("c", in: table, limit: .entries(10))
      #expect(try !cache.remove(1))
      #expect(table.count == 0)
      try fillInEverySize(table)
      let count = table.count
      #expect(try !cache.remove(1))
      #expect(table.count == count)
    }
  }

  /// Their lines go first, and would be too many for one barrier, too.
  @Test(arguments: Table.Variant.allCases)
  func evictionsStrikeTheLinesOfElementsThatHaveGone(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 3 << 20) { table in
      let cache = try SharedCache<Int, Int>("c", in: table, limit: .entries(1_000_000))
      for key in 0..<4000 { try cache.set(key, key) }
      let keys = try table.read { view in try view.keys(prefix: cache.core.names.elementPrefix.array) }
      let byAge = try keys.map { (key: $0, version: try #require(try table.entry(forKey: $0)).version) }
        .sorted { $0.version < $1.version }
      for element in byAge.prefix(500) { try table.remove(element.key) }
      try fillInEverySize(table)
      #expect(try cache.count == 4000)
      #expect(try cache.core.evictSome(64, timeout: nil) == 64)
      #expect(try cache.count < 4000 - 64 - 250)
      #expect(try problems(table).allSatisfy { $0.hasPrefix("a line without its element") })
    }
  }
}
