import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A split whose halves have no room for some key is made a deep sub-table instead, if there is room for one.
@Suite struct DeepRebuildTests {
  /// Buckets 250 to 253 are full. A split begins with bucket 0, whose keys belong in 253 too, and has no place for the last of 250.
  private func wrappingHashes() -> [UInt64] {
    let early = (0..<25).map { UInt64($0) << 8 | 250 }
    let late = (0..<31).map { UInt64($0) << 8 | 253 }
    return early + late
  }

  @Test(arguments: Table.Variant.allCases)
  func whatWasBuiltForASplitGoesOnceIfThereIsNoRoomForTheDeepOne(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 1 << 20) { table throws in
      let forge = KeyForge(seed: table.segment.hashSeed)
      for hash in wrappingHashes() { try table.set(forge.key(hash: hash), 1) }
      // As long as a sub-table, each: so many that no longer run is left, and then two that lie apart are freed.
      let filler = [UInt8](repeating: 7, count: SubTable.byteCount - 24 - 8)
      func fillerKey(_ index: Int) -> [UInt8] { forge.key(hash: UInt64(index) << 8 | UInt64(20 + index)) }
      var count = 0
      while code({ try table.set(fillerKey(count), filler) }) == nil { count += 1 }
      for index in [2, 5] { try table.remove(fillerKey(index)) }
      while try table.administration.maintain() == true {}
      // The barrier goes on after a set that found no room.
      try table.barrier { (tx: inout SharedTable.Transaction) throws in
        #expect(code { try tx.set(forge.key(hash: 250 | 99 << 8), 1) } == .full)
        try tx.set(forge.key(hash: 100), 2)
      }
      #expect(try table.check() == [])
    }
  }
}
