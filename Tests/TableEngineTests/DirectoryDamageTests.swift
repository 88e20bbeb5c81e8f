import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A check looks at no memory that is not the table's, whatever the directory says.
@Suite struct DirectoryDamageTests {
  /// Of those bits some are beyond what the name of a block keeps.
  @Test(arguments: Table.Variant.allCases) func aNodeBeyondTheTableIsNotLookedInto(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
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
      }
      data.storeRelaxed(place, word)
      #expect(try table.check() == [])
    }
  }
}
