import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// Room that comes back in pieces is made whole again: what is free serves values of any size.
@Suite struct CompactionTests {
  private static let capacity = 4 << 20

  private func withPoisonedTable(
    _ variant: Table.Variant, policy: Table.StalledReaderPolicy = .evict, hashSeed: UInt64? = nil,
    _ body: (Table) throws -> Void
  ) throws {
    var options = Table.Options(variant: variant, capacityBytes: Self.capacity)
    options.hashSeed = hashSeed
    options.stalledReaderPolicy = policy
    try TableTestSupport.withPoisonedTable(options) { _, table in try body(table) }
  }

  private func value(_ index: Int, size: Int = 100) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: size)
  }

  /// Stores values under "PREFIX 0", "PREFIX 1", ... until there is no room.
  /// - Returns: how many were stored.
  private func fill(_ table: Table, _ prefix: String, size: Int = 100) throws -> Int {
    var stored = 0
    while true {
      do throws(TableError) { try table.set("\(prefix) \(stored)", value(stored, size: size)) } catch {
        #expect(error.code == .full)
        return stored
      }
      stored += 1
    }
  }

  /// Fills the table with small values, then deletes nine of ten at random.
  /// - Returns: the numbers of those that are left.
  private func scatter(_ table: Table) throws -> [Int] {
    var generator = SplitMix(seed: 7)
    let stored = try fill(table, "old")
    var kept: [Int] = []
    for index in 0..<stored {
      if generator.below(10) == 0 { kept.append(index) } else { try table.remove("old \(index)") }
    }
    return kept
  }

  /// Of what is free in so small a table, a twentieth is the reserve for deletes and replacements. How many large values fit
  /// depends on where the table's seed puts the keys: one table takes 33 to 50 of 64 KiB. Hence the mean of several, with seeds that
  /// are always the same.
  @Test(arguments: Table.Variant.allCases, [(100, 0.93, 1), (1 << 10, 0.85, 1), (64 << 10, 0.7, 4)])
  func whatIsFreeServesValuesOfAnySize(
    _ variant: Table.Variant, _ size: (bytes: Int, share: Double, tables: Int)
  ) throws {
    var shares: [Double] = []
    for seed in 1...UInt64(size.tables) {
      try withPoisonedTable(variant, hashSeed: seed) { table throws in
        let kept = try scatter(table)
        try table.administration.maintain()
        let used = table.statistics.usedBytes!
        let stored = try fill(table, "new", size: size.bytes)
        shares.append(Double(table.statistics.usedBytes! - used) / Double(Self.capacity - used))
        #expect(try table.check() == [])
        for index in kept { #expect(try table.get("old \(index)") == value(index)) }
        for index in 0..<stored { #expect(try table.get("new \(index)") == value(index, size: size.bytes)) }
      }
    }
    #expect(shares.reduce(0, +) / Double(shares.count) >= size.share, "of what was free: \(shares)")
  }

  @Test(arguments: Table.Variant.allCases) func sizesMayDriftForEver(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: Self.capacity) { table throws in
      var generator = SplitMix(seed: 3)
      var live: [(key: String, bytes: Int)] = []
      var liveBytes = 0
      for number in 0..<6_000 {
        let size = 100 << [0, 2, 4, 6, 7, 5, 3, 1][number / 375 % 8]
        let bytes = size + generator.below(size)
        while liveBytes + bytes > Self.capacity / 100 * 60 {
          live.swapAt(generator.below(live.count), live.count - 1)
          let gone = live.removeLast()
          try table.remove(gone.key)
          liveBytes -= gone.bytes
        }
        try table.set("key \(number)", value(number, size: bytes))
        live.append(("key \(number)", bytes))
        liveBytes += bytes
      }
      #expect(try table.check() == [])
    }
  }

  /// A table without a block left takes a value of up to 64 KiB in the place of one that is no smaller.
  @Test(arguments: Table.Variant.allCases, [100, 3000, 64 << 10])
  func aFullTableCanReplaceItsValues(_ variant: Table.Variant, _ size: Int) throws {
    try withPoisonedTable(variant) { table throws in
      let stored = try fill(table, "key", size: size)
      _ = try fill(table, "small", size: 1)
      for round in 1...2 {
        for index in stride(from: 0, to: stored, by: max(1, stored / 100)) {
          try table.set("key \(index)", value(index + round, size: size))
        }
      }
      for index in stride(from: 0, to: stored, by: max(1, stored / 100)) {
        #expect(try table.get("key \(index)") == value(index + 2, size: size))
      }
      for index in 0..<stored { #expect(try table.remove("key \(index)")) }
      #expect(try table.check() == [])
    }
  }

  /// Each size takes a slab of the reserve, so that after a few none would be left for a large value.
  @Test(arguments: Table.Variant.allCases) func replacementsOfManySizesLeaveTheReserveFree(_ variant: Table.Variant)
    throws
  {
    try withPoisonedTable(variant) { table throws in
      let sizes = [64 << 10, 3000, 1500, 700, 350, 180, 90, 40]
      for size in sizes.dropFirst() {
        for index in 0..<40 { try table.set("\(size) \(index)", value(index, size: size)) }
      }
      for size in sizes { _ = try fill(table, "\(size) more", size: size) }
      for round in 1...3 {
        for size in sizes.dropFirst() { try table.set("\(size) 0", value(round, size: size)) }
        try table.set("\(sizes[0]) more 0", value(round, size: sizes[0]))
      }
      #expect(try table.get("\(sizes[0]) more 0") == value(3, size: sizes[0]))
      #expect(try table.check() == [])
    }
  }

  // MARK: - Beside others

  /// Values that are younger than a snapshot lie scattered, and older ones of the same keys hang behind them: they are not
  /// moved, or what hangs there would be lost.
  @Test func anOlderSnapshotStillSeesWhatWasBefore() throws {
    try withPoisonedTable(.rcu, policy: .refuse) { table throws in
      for index in 0..<200 { try table.set("kept \(index)", value(index)) }
      let snapshot = try table.snapshot()
      for index in 0..<20_000 {
        try table.set("old \(index)", value(index))
        if index % 100 == 0 { try table.set("kept \(index / 100)", value(index / 100 + 1)) }
      }
      for index in 0..<20_000 { try table.remove("old \(index)") }
      _ = try fill(table, "new", size: 20_000)
      for index in 0..<200 {
        #expect(try snapshot.get("kept \(index)") == value(index))
        #expect(try table.get("kept \(index)") == value(index + 1))
      }
      #expect(try table.check() == [])
    }
  }

  /// A section reads in place: what it has found stays, however much is moved meanwhile.
  @Test func whatASectionReadsInPlaceStays() throws {
    try withPoisonedTable(.rcu) { table throws in
      let kept = try scatter(table)
      try table.read { view throws in
        let bytes = try view.bytes(forKey: "old \(kept[0])")!
        try TestThread { for round in 0..<20 { _ = try self.fill(table, "new \(round)", size: 20_000) } }.join()
        #expect(bytes.withUnsafeBytes { Array($0) } == value(kept[0]))
      }
      #expect(try table.check() == [])
    }
  }

  /// A barrier of some keys reads its own in place, without a section: they are not moved until it ends.
  @Test(arguments: Table.Variant.allCases) func whatAKeyLockCoversStaysWhereItIs(_ variant: Table.Variant) throws {
    try withPoisonedTable(variant) { table throws in
      let kept = try scatter(table)
      let locked = kept[kept.count / 4 * 3]
      try table.barrier(keys: ["old \(locked)"]) { tx throws in
        let found = try DecodedLate.$whileDecoding.withValue({
          TestThread { try self.fill(table, "new", size: 20_000) }.joinQuietly()
        }) { try tx.get("old \(locked)", as: DecodedLate.self) }
        #expect(found?.bytes == value(locked))
      }
      #expect(try table.check() == [])
    }
  }
}

/// Bytes, before whose decoding something happens.
private struct DecodedLate: TableValue {
  @TaskLocal static var whileDecoding: @Sendable () -> Void = {}
  static let tableType = ValueType.bytes
  let bytes: [UInt8]

  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try bytes.withTableBytes(body)
  }

  init?(tableBytes: UnsafeRawBufferPointer) {
    Self.whileDecoding()
    bytes = [UInt8](tableBytes)
  }
}
