import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A split whose halves have no room for some key by first fit copies each key to the place where it lay.
@Suite struct SplitInPlaceTests {
  /// Keys of two buckets at the end, nearly all of the lower half, that fill the last five buckets and the first one. A split begins with the
  /// first bucket, whose keys belong in bucket 254, and then has no place for the last of those of 251.
  private func wrappingHashes() -> [UInt64] {
    let homes = [UInt64](repeating: 251, count: 32) + [UInt64](repeating: 254, count: 16) + [251]
    // They differ in the bits behind the first, so that another split parts them.
    return homes.enumerated().map { number, home in
      let half = number < 6 ? UInt64(1) << 63 : 0
      return half | UInt64(number) << 54 | UInt64(number) << 8 | home
    }
  }

  private func isDeep(_ table: Table, hash: UInt64) -> Bool {
    Lookup(data: table.segment.data).directoryWord(hash: hash).word.isDeep
  }

  @Test(arguments: Table.Variant.allCases) func aFewKeysAcrossTheEndMakeNoSubTableDeep(_ variant: Table.Variant) throws
  {
    try withTable(variant) { table throws in
      let forge = KeyForge(seed: table.segment.hashSeed)
      let hashes = wrappingHashes()
      for (index, hash) in hashes.enumerated() { try table.set(forge.key(hash: hash), index) }
      #expect(!isDeep(table, hash: hashes[0]))
      // More of the other half, which has few keys so far.
      let upper = UInt64(1) << 63
      let others = (0..<300).map { (number: UInt64) in upper | number << 8 | (250 + number % 6) }
      for (index, hash) in others.enumerated() { try table.set(forge.key(hash: hash), -index) }
      for (index, hash) in hashes.enumerated() { #expect(try table.get(forge.key(hash: hash), as: Int.self) == index) }
      for (index, hash) in others.enumerated() { #expect(try table.get(forge.key(hash: hash), as: Int.self) == -index) }
      let observer = try Table.open(table.name, access: .observer)
      for (index, hash) in hashes.enumerated() {
        #expect(try observer.get(forge.key(hash: hash), as: Int.self) == index)
      }
      #expect(try table.check() == [])
      for hash in hashes + others { try table.remove(forge.key(hash: hash)) }
      #expect(table.count == 0)
      #expect(try table.check() == [])
    }
  }

  /// Whatever lies in the sub-table: keys of random buckets near the end, of both halves, and some of them removed.
  @Test(arguments: 1...20) func whateverASubTableHoldsItsHalvesHaveRoomFor(_ seed: UInt64) throws {
    try withTable(.rcu) { table throws in
      let forge = KeyForge(seed: table.segment.hashSeed)
      var random = SplitMix(seed: seed)
      var model: [UInt64: Int] = [:]
      for number in 0..<1_500 {
        let home = (246 + random.next() % 14) & 255
        // Each bit of the prefix is set in one of four: the lower halves get most keys.
        let prefix = random.next() & random.next() & 0xffff_ffff_ff00_0000
        let hash = prefix | UInt64(number) << 8 | home
        try table.set(forge.key(hash: hash), number)
        model[hash] = number
        if random.next() % 4 == 0, let gone = model.keys.randomElement(using: &random) {
          #expect(try table.remove(forge.key(hash: gone)))
          model[gone] = nil
        }
      }
      for (hash, number) in model { #expect(try table.get(forge.key(hash: hash), as: Int.self) == number) }
      #expect(table.count == model.count)
      #expect(try table.check() == [])
    }
  }
}
