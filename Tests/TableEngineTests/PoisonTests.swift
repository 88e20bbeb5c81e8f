import SharedTable
import TableEngine
import TestSupport
import Testing

/// The debugging aid of the storm: freed memory says so.
@Suite struct PoisonTests {
  @Test(arguments: Table.Variant.allCases, [false, true]) func freedBlocksAreOverwrittenIfTheTableWasMadeSo(
    _ variant: Table.Variant, _ poisons: Bool
  ) throws {
    try withTableName { (name: String) throws -> Void in
      var options = Table.Options(variant: variant, capacityBytes: 4 << 20)
      options.poisonsFreedBlocks = poisons
      let table = try Table.create(name, options)
      let marker: UInt64 = 0x5eed_0fa5_7072_6d21
      // One in a slab, one in frames of its own.
      for (key, words) in [("small", 8), ("large", 4000)] {
        let value = (0..<words * 8).map { UInt8(marker >> ($0 % 8 * 8) & 255) }
        try table.set(key, value)
        #expect(occurrences(of: marker, in: table) > words / 2)
        try table.remove(key)
        while try table.administration.maintain() == true {}
        #expect((occurrences(of: marker, in: table) == 0) == poisons, "\(key)")
        if !poisons { return }
      }
      #expect(try table.check() == [])
    }
  }

  /// How many eighths of the object hold the word, wherever it begins.
  private func occurrences(of word: UInt64, in table: Table) -> Int {
    let bytes = UnsafeRawBufferPointer(start: table.segment.data.base, count: table.statistics.claimedBytes)
    let turns = (0..<8).map { UInt64(word >> ($0 * 8)) | (($0 == 0) ? 0 : word << (64 - $0 * 8)) }
    return stride(from: 0, to: bytes.count, by: 8).count { offset in
      turns.contains(bytes.load(fromByteOffset: offset, as: UInt64.self))
    }
  }
}
