import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// In a table of which every block is in use, a value that replaces a larger one may come to lie where that one was.
@Suite struct EntrySlackTests {
  /// A full table, and what it must hold of values that are replaced by smaller ones.
  private struct FullTable {
    let table: Table
    private(set) var model: [String: [UInt8]] = [:]
    private var random: SplitMix
    private var largest: Int

    init(_ table: Table, largest: Int) throws {
      self.table = table
      self.largest = largest
      random = SplitMix(seed: UInt64(largest))
      var bytes = 0
      while bytes < 400_000 {
        bytes += try set("key \(model.count)", count: random.below(largest)) + 40
      }
      try fillInEverySize(table)
    }

    /// - Returns: the count.
    @discardableResult
    private mutating func set(_ key: String, count: Int) throws -> Int {
      let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ model.count) }
      // Some have an expiry before the key.
      try table.set(key, value, expires: key.hasSuffix("7") ? .after(.seconds(3600)) : .never)
      model[key] = value
      return count
    }

    /// Has values lie in the reserve that have taken the places of larger ones, and a barrier refused that needs far more sizes than the reserve
    /// has superframes, since one or two more may have become free: then the next one moves those values.
    mutating func giveSlack() throws {
      let large = model.keys.filter { model[$0]!.count > 500 }.sorted()
      for (key, count) in zip(large, [40, 120, 200]) { try set(key, count: count) }
      let refused = code {
        try table.barrier { (tx: inout SharedTable.Transaction) throws in
          for (key, count) in zip(large.dropFirst(3), stride(from: 20, to: 500, by: 16)) {
            try tx.set(key, [UInt8](repeating: 1, count: count))
          }
        }
      }
      #expect(refused == .full)
      try set(large[3], count: 500)
      try #require(table.segment.work?.entriesGivenSlack ?? 0 > 0)
    }

    /// Replaces each value by one that is no larger.
    mutating func shrink() {
      for key in model.keys.sorted().shuffled(using: &random) {
        let count = random.below(model[key]!.count + 1)
        #expect(throws: Never.self, "\(key) by \(count) bytes") { try set(key, count: count) }
      }
    }

    func expectWhole() throws {
      #expect(try table.check() == [])
      for (key, value) in model { #expect(try table.get(key) == value) }
    }
  }

  /// The table's hash seed is fixed. Of random ones, one in 75 fills the table so that no value is given slack, and some let a compaction pass by
  /// a superframe that holds one.
  private func withFullTable(
    _ variant: Table.Variant, largest: Int = 800, _ body: (inout FullTable) throws -> Void
  ) throws {
    var options = Table.Options(variant: variant, capacityBytes: 4 << 20)
    options.hashSeed = 1
    try withPoisonedTable(options) { _, table throws in
      var full = try FullTable(table, largest: largest)
      try body(&full)
    }
  }

  @Test(arguments: Table.Variant.allCases, [800, 3000])
  func eachValueOfAFullTableCanBeReplacedByOneNoLarger(_ variant: Table.Variant, _ largest: Int) throws {
    try withFullTable(variant, largest: largest) { full throws in
      for _ in 0..<4 {
        full.shrink()
        try full.expectWhole()
      }
    }
  }

  /// What is freed then is known to be as large as it is, and so nothing stays in use.
  @Test(arguments: Table.Variant.allCases) func allOfItsMemoryComesBack(_ variant: Table.Variant) throws {
    try withFullTable(variant) { full throws in
      let table = full.table
      try full.giveSlack()
      full.shrink()
      for key in full.model.keys { try table.remove(key) }
      try removeFilling(table)
      while try table.administration.maintain() == true {}
      #expect(try table.check() == [])
      let value = [UInt8](repeating: 1, count: 3000)
      var count = 0
      while code({ try table.set("key \(count)", value) }) == nil { count += 1 }
      #expect(count * value.count > 3 << 20)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aRepairKeepsIt(_ variant: Table.Variant) throws {
    try withFullTable(variant) { full throws in
      try full.giveSlack()
      let ctl = try #require(full.table.segment.participant).state.ctl
      ctl.storeRelaxed(ControlLayout.garbageBytes, ctl.loadRelaxed(ControlLayout.garbageBytes) + 8)
      let report = try full.table.repair()
      #expect(report.isRepaired && report.losses == [], "\(report)")
      try full.expectWhole()
      full.shrink()
      try full.expectWhole()
    }
  }

  /// Once there is room, a compaction moves it to a block of its own size.
  @Test func aCompactionTakesItsSlack() throws {
    try withFullTable(.rcu) { full throws in
      let table = full.table
      try full.giveSlack()
      #expect(try !entries(of: full).isEmpty)
      for key in try table.read({ view in try view.keys(prefix: "filling ") }).enumerated() where key.offset % 8 != 0 {
        try table.remove(key.element)
      }
      for round in 0..<20 where try !entries(of: full).isEmpty {
        _ = code { try table.set("large", [UInt8](repeating: 1, count: 100_000 + round * 50_000)) }
        try table.set("large", 1)
      }
      let left = try entries(of: full)
      #expect(left.isEmpty, "\(left.count)")
      try full.expectWhole()
    }
  }

  @Test func aSizeOfBlockThatCannotBeIsDamage() throws {
    try withFullTable(.rcu) { full throws in
      let table = full.table
      try full.giveSlack()
      let state = try #require(table.segment.participant).state
      let entry = try #require(try entries(of: full).first)
      let meta = EntryMeta(raw: state.data.loadRelaxed(entry + Entry.meta))
      let place = entry + EntrySlack.codeOffset(meta)
      let word = state.data.loadRelaxed(place)
      let own = UInt64(SizeClasses.code(byteCount: meta.byteCount))
      for code in [
        own, own &- 1, UInt64(SizeClasses.count), UInt64(SizeClasses.runCode), 1 << 40, 1 << 60, .max, word | 1 << 63,
      ] {
        state.data.storeRelaxed(place, code)
        #expect(try table.check().contains { $0.contains("of a size that cannot be") }, "\(code)")
        let losses = try table.repair(dryRun: true).losses
        // The key is whole, and says what is lost.
        #expect(losses.count == 1 && losses[0].contains("perhaps key 'key "), "\(code): \(losses)")
      }
      // Where a compaction looks at a block, any bytes may lie.
      for bit in 0..<64 {
        state.data.storeRelaxed(place, 1 << UInt64(bit))
        let code = state.blockPlaces.code(ofEntry: entry, meta, state.data)
        #expect(code == nil || SizeClasses.byteCount(code: code!) >= meta.byteCount + 8)
      }
      state.data.storeRelaxed(place, word)
      try full.expectWhole()
    }
  }

  /// New keys take the blocks of the values that were replaced, while what replaced them is in the reserve.
  @Test(arguments: Table.Variant.allCases) func newKeysDoNotKeepValuesFromBeingReplaced(_ variant: Table.Variant) throws
  {
    try withSmallTable(variant) { table throws in
      let value = [UInt8](repeating: 1, count: 800)
      for index in 0..<300 { try table.set("key \(index)", value) }
      try fillInEverySize(table)
      for index in 0..<200 {
        #expect(throws: Never.self, "\(index)") { try table.set("key \(index)", Array(value.prefix(index % 25 * 32))) }
        _ = code { try table.set("new \(index)", value) }
      }
      #expect(try table.check() == [])
    }
  }

  /// The places of the entries that have slack.
  private func entries(of full: FullTable) throws -> [Int] {
    let segment = full.table.segment
    let state = try #require(segment.participant).state
    return full.model.keys.sorted().compactMap { key in
      let bytes = Array(key.utf8)
      let location = unsafe bytes.withUnsafeBytes { key in
        unsafe state.lookup.locate(key.baseAddress!, key.count, hash: segment.hash(key))
      }
      let entry = BucketWord.offset(location.word)
      return EntryMeta(raw: state.data.loadRelaxed(entry + Entry.meta)).hasSlack ? entry : nil
    }
  }

  @Test func aLargerBlockHasRoomForItsSize() {
    for count in 25..<5000 {
      let meta = EntryMeta(keyLength: 1, valueLength: count - 25, type: 0)
      let own = SizeClasses.byteCount(code: SizeClasses.code(byteCount: meta.byteCount))
      for code in EntrySlack.codes(for: meta) {
        let size = SizeClasses.byteCount(code: code)
        #expect(size >= EntrySlack.codeOffset(meta) + 8 && code != SizeClasses.code(byteCount: meta.byteCount))
        #expect(code >= SizeClasses.runCode || size > own)
      }
    }
  }
}
