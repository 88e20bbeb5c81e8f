import SharedTable
import TableTestSupport
import TestSupport
import Testing

@testable import TableEngine

/// The index as it grows, and under keys made against it.
@Suite struct IndexTests {
  /// The lower 42 bits of a hash: different buckets, tags and upper bits.
  private func spread(_ number: UInt64) -> UInt64 {
    number &* 0x9e37_79b9 & 0xffff_ffff | number << 32 & 0x3ff_0000_0000
  }

  @Test(arguments: Setting.all) func everyKeyIsFoundWhileTheTableGrows(_ setting: Setting) throws {
    try setting.with(capacityBytes: 32 << 20) { table, reader throws in
      for index in 0..<40_000 { try table.set("key \(index)", index) }
      #expect(reader.count == 40_000)
      for index in 0..<40_000 { #expect(try reader.get("key \(index)") == index) }
      #expect(try !reader.contains("key 40000"))
      #expect(try reader.read { view in try view.count() } == 40_000)
    }
  }

  /// The same top bits again and again: splits down to directory nodes, then to the deepest level.
  @Test(arguments: Setting.all) func keysOfOnePrefixMakeNodesAndDeepSubTables(_ setting: Setting) throws {
    try setting.with(capacityBytes: 16 << 20) { table, reader throws in
      let forge = try table.forge
      let prefix: UInt64 = 0x2a_5a5a << 42  // 22 bits: the directory's deepest level
      let keys = (0..<5000).map { forge.key(hash: prefix | spread($0)) }
      #expect(try table.hash(keys[7]) >> 42 == 0x2a_5a5a, "the forged keys hit their mark")
      for (index, key) in keys.enumerated() { try table.set(key, index) }
      #expect(try table.check() == [])
      for (index, key) in keys.enumerated() { #expect(try reader.get(key) == index) }
      #expect(try reader.read { view in try view.count() } == 5000)
      for (index, key) in keys.enumerated() where index % 2 == 0 { try table.remove(key) }
      for (index, key) in keys.enumerated() {
        #expect(try reader.get(key, as: Int.self) == (index % 2 == 0 ? nil : index))
      }
      for (index, key) in keys.enumerated() { try table.set(key, -index) }
      for (index, key) in keys.enumerated() { #expect(try reader.get(key) == -index) }
      #expect(reader.count == 5000)
    }
  }

  /// Hashes below four root words, whose nodes get four words and more.
  private func hashBelowNodes(_ number: UInt64) -> UInt64 {
    (number & 3) << 54 | ((number &* 0x9e37_79b9_7f4a_7c15) >> 52) << 42 | spread(number)
  }

  /// Node after node comes down to one sub-table, and merges with what is beside it: what is left is found, and the index grows again.
  @Test(arguments: Setting.all) func nodesAreDissolvedAsTheTableEmpties(_ setting: Setting) throws {
    try setting.with(capacityBytes: 32 << 20) { table, reader throws in
      let forge = try table.forge
      let keys = (0..<24_000).map { forge.key(hash: hashBelowNodes($0)) }
      let root = table.segment.data
      func rootWord(_ index: Int) -> DirectoryWord { DirectoryWord(root.loadRelaxed(DataLayout.root + index * 8)) }
      for round in 0..<2 {
        for (index, key) in keys.enumerated() { try table.set(key, index + round) }
        #expect((0..<4).allSatisfy { rootWord($0).isNode && rootWord($0).bits > 1 })
        for (index, key) in keys.enumerated() where index % 200 != 0 { try table.remove(key) }
        for _ in 0..<300 where rootWord(0).isNode || rootWord(0).bits > 3 {
          try table.administration.maintain()
          _ = try table.administration.shrink()
        }
        #expect(try table.check() == [])
        // In the rwlock variant an idle moment does not merge: readers would wait.
        if setting.variant == .rcu { #expect(!rootWord(0).isNode && rootWord(0).bits <= 3) }
        for (index, key) in keys.enumerated() {
          #expect(try reader.get(key, as: Int.self) == (index % 200 == 0 ? index + round : nil))
        }
      }
    }
  }

  /// A node behind all that is in use would keep the memory before it.
  @Test(arguments: Table.Variant.allCases) func nodesAreMovedOutOfTheLastUnits(_ variant: Table.Variant) throws {
    try withPoisonedTable(Table.Options(variant: variant, capacityBytes: 32 << 20)) { _, table in
      let forge = try table.forge
      for index in 0..<200 { try table.set("pad \(index)", [UInt8](repeating: 7, count: 100_000)) }
      let keys = (0..<24_000).map { forge.key(hash: hashBelowNodes($0)) }
      for (index, key) in keys.enumerated() { try table.set(key, index) }
      let data = table.segment.data
      var nodes: [DirectoryWord] { (0..<4).map { DirectoryWord(data.loadRelaxed(DataLayout.root + $0 * 8)) } }
      let before = nodes
      for index in 0..<200 { try table.remove("pad \(index)") }
      repeat { try table.administration.maintain() } while try table.administration.shrink()?.isUnfinished != false
      #expect(table.statistics.claimedBytes < 10 << 20)
      #expect(zip(before, nodes).allSatisfy { $0.isNode && $1.isNode && $0.offset > $1.offset })
      #expect(try table.check() == [])
      for (index, key) in keys.enumerated() { #expect(try table.get(key) == index) }
    }
  }

  /// A node whose words all name one sub-table, of the root words' depth, is what merges leave.
  @Test(arguments: Table.Variant.allCases)
  func aRepairKeepsWhatIsBelowANodeOfOneSubTable(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 32 << 20) { table in
      let forge = try table.forge
      let keys = (0..<24_000).map { forge.key(hash: hashBelowNodes($0)) }
      let data = table.segment.data
      var node: DirectoryWord { DirectoryWord(data.loadRelaxed(DataLayout.root)) }
      var first: DirectoryWord { DirectoryWord(data.loadRelaxed(node.offset)) }
      for (index, key) in keys.enumerated() { try table.set(key, index) }
      // Only of the first root word: with what is beside it, which stays full, its last sub-table cannot merge.
      let removed = keys.indices.filter { $0 % 4 == 0 && $0 % 200 != 0 }
      for index in removed { try table.remove(keys[index]) }
      for _ in 0..<300 where first.bits > DataLayout.rootBits {
        try table.administration.maintain()
        _ = try table.administration.shrink()
      }
      #expect(node.isNode && first.bits == DataLayout.rootBits)
      let subTable = first.offset
      try table.loseWords(ofSubTable: subTable)
      #expect(try table.repair().isRepaired)
      #expect(try table.check() == [])
      #expect(table.count == keys.count - removed.count - 1)
    }
  }

  /// Equal in every bit the index uses: one home bucket, one tag, one sub-table.
  @Test(arguments: Setting.all) func craftedKeysCostTimeAndNotMemory(_ setting: Setting) throws {
    try setting.with(capacityBytes: 4 << 20) { table, reader throws in
      let forge = try table.forge
      let keys = (0..<3000).map { forge.key(hash: 0x1234_5400_0000_4321 | UInt64($0) << 24) }
      for (index, key) in keys.enumerated() { try table.set(key, index) }
      for (index, key) in keys.enumerated() { #expect(try reader.get(key) == index) }
      #expect(try !reader.contains(forge.key(hash: 0x1234_5400_0000_4321 | 3000 << 24)))
      _ = try? table.barrier { tx throws in
        for key in keys { try tx.remove(key) }
        throw CancellationError()
      }
      for (index, key) in keys.enumerated() { #expect(try reader.get(key) == index) }
      for key in keys { #expect(try table.remove(key)) }
      #expect(reader.count == 0)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aSplitThatIsUndoneLeavesEveryKeyInItsPlace(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant, capacityBytes: 16 << 20) { table throws in
      let forge = try table.forge
      let prefix: UInt64 = 0x15_1515 << 42
      let keys = (0..<3000).map { forge.key(hash: prefix | spread($0)) }
      for step in stride(from: 0, to: 3000, by: 500) {
        _ = try? table.barrier { tx throws in
          for (index, key) in keys[step..<(step + 500)].enumerated() { try tx.set(key, index) }
          throw CancellationError()
        }
        #expect(table.count == step)
        #expect(try table.check() == [])
        for (index, key) in keys[step..<(step + 500)].enumerated() { try table.set(key, step + index) }
        for index in 0..<(step + 500) { #expect(try table.get(keys[index]) == index) }
      }
    }
  }

  /// Keys of one window that come and go: a search that stopped at a deleted word would lose those behind it, one
  /// that inserted before looking on would have them twice.
  @Test(arguments: Setting.all) func keysBehindDeletedWordsAreFoundOnceAndNotTwice(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      let forge = try table.forge
      // One home bucket, different tags and prefixes: 20 of them fill two buckets and a half.
      let keys = (0..<20).map { forge.key(hash: UInt64($0) << 40 | UInt64($0) << 8 | 0x77) }
      for (index, key) in keys.enumerated() { try table.set(key, index) }
      for index in 0..<4 { try table.remove(keys[index]) }
      try table.administration.maintain()
      try table.administration.maintain()
      for index in 4..<20 { #expect(try reader.get(keys[index]) == index) }
      for index in 4..<20 { try table.set(keys[index], index + 100) }
      for index in 4..<20 { #expect(try table.remove(keys[index])) }
      try table.administration.maintain()
      #expect(try reader.read { view in try view.count() } == 0)
      for index in 0..<20 { #expect(try !reader.contains(keys[index])) }
      for (index, key) in keys.enumerated() { try table.set(key, index) }
      #expect(reader.count == 20)
    }
  }

  @Test(arguments: Setting.all) func aPrefixListsTheKeysThatBeginWithIt(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      for name in ["user:1", "user:2", "user:10", "use", "user", "group:1", "\u{e9}a", "\u{e9}"] {
        try table.set(name, name)
      }
      try reader.read { view throws in
        #expect(try view.keys(prefix: "user:") == ["user:1", "user:10", "user:2"].map { Array($0.utf8) })
        #expect(try view.keys(prefix: "user:1") == ["user:1", "user:10"].map { Array($0.utf8) })
        #expect(try view.keys(prefix: "\u{e9}").count == 2)
        #expect(try view.keys(prefix: [0xc3]).count == 2)
        #expect(try view.keys(prefix: "nobody").isEmpty)
        #expect(try view.keys().count == 8)
        var visited = 0
        let second = try view.first(prefix: "user") { _, _ in
          visited += 1
          return visited < 2 ? nil : visited
        }
        #expect(second == 2 && visited == 2, "the first value ends the search")
        #expect(try view.first(prefix: "user") { _, _ -> Int? in nil } == nil)
      }
    }
  }
}
