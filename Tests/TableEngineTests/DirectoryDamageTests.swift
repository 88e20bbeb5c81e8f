import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A check, and a repair, look at no memory that is not the table's, whatever the index says.
@Suite struct DirectoryDamageTests {
  /// Of those bits some are beyond what the name of a block keeps.
  @Test(arguments: Table.Variant.allCases) func aNodeBeyondTheTableIsNotLookedInto(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table throws in
      let forge = KeyForge(seed: table.segment.hashSeed)
      // All below one word of the root, and in different sub-tables.
      for index in 0..<2_000 { try table.set(forge.key(hash: UInt64(index) << 40), 1) }
      let data = try #require(table.segment.participant).state.data
      let place = DataLayout.root
      let word = data.loadRelaxed(place)
      #expect(DirectoryWord(word).isNode)
      for bit in 20..<48 {
        data.storeRelaxed(place, word ^ 1 << UInt64(bit))
        #expect(try table.check() != [], "bit \(bit)")
        #expect(try !table.repair(dryRun: true).losses.isEmpty, "bit \(bit)")
      }
      data.storeRelaxed(place, word)
      #expect(try table.check() == [])
    }
  }

  /// Also of the bits that no writer sets, at which no reader looks: repair gives up what such a word leads to.
  @Test(arguments: Table.Variant.allCases) func everyBitOfADirectoryWordIsChecked(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table throws in
      let forge = KeyForge(seed: table.segment.hashSeed)
      for index in 0..<2_000 { try table.set(forge.key(hash: UInt64(index) << 40), 1) }
      let data = try #require(table.segment.participant).state.data
      let ofNode = DirectoryWord(data.loadRelaxed(DataLayout.root))
      #expect(ofNode.isNode)
      for place in [DataLayout.root, ofNode.offset] {
        let word = data.loadRelaxed(place)
        for bit in 0..<UInt64(64) {
          data.storeRelaxed(place, word ^ 1 << bit)
          #expect(try table.check() != [], "bit \(bit) of \(place)")
        }
        data.storeRelaxed(place, word)
      }
      #expect(try table.check() == [])
    }
  }

  /// Else it would claim that again, and be killed where /dev/shm has no room.
  @Test(arguments: Table.Variant.allCases) func aRepairLooksAtNoMemoryThatWasGivenBack(_ variant: Table.Variant) throws
  {
    try withTable(variant, capacityBytes: 32 << 20) { table throws in
      let value = [UInt8](repeating: 7, count: 4000)
      var count = 0
      while code({ try table.set("key \(count)", value) }) == nil { count += 1 }
      for index in 0..<count { try table.remove("key \(index)") }
      repeat { try table.administration.maintain() } while try table.administration.shrink()?.isUnfinished == true
      try table.set("key", 1)
      let segment = table.segment
      let state = try #require(segment.participant).state
      let hash = unsafe Array("key".utf8).withUnsafeBytes { unsafe segment.hash($0) }
      let location = unsafe Array("key".utf8).withUnsafeBytes { key in
        unsafe state.lookup.locate(key.baseAddress!, key.count, hash: hash)
      }
      let allocated = try segment.dataObject.status().allocated
      #expect(allocated < 4 << 20)
      let lost = state.geometry.unitOffset(20)
      state.data.storeRelaxed(location.place, BucketWord.make(tag: BucketWord.tag(hash: hash), offset: lost))
      let report = try table.repair(dryRun: true)
      #expect(report.losses.count == 1, "\(report)")
      #expect(try segment.dataObject.status().allocated == allocated)
      state.data.storeRelaxed(location.place, location.word)
      #expect(try table.check() == [])
    }
  }
}
