import Glibc
import SharedMemory
import Testing

@testable import SharedTable
@testable import TableEngine

/// A kernel that gives no huge page is not asked by every write.
@Suite struct CollapseRefusalTests {
  @Test func aRefusedHugePageIsAskedForWhenTheTableHasGrown() throws {
    let table = try Table.temporary(capacityBytes: 64 << 20)
    let segment = table.segment
    // madvise(2): MADV_COLLAPSE fails on what is marked so.
    let isMarked = segment.dataMapping.withBase { madvise($0, segment.dataMapping.count, MADV_NOHUGEPAGE) } == 0
    let participant = try #require(segment.participant)
    var sizes: Set<UInt64> = []
    // Runs of frames, which no slab holds: each write looks for its block in the whole table.
    let value = [UInt8](repeating: 7, count: 20_000)
    for index in 0..<2_000 {
      try table.set("key \(index)", value)
      sizes.insert(segment.data.loadRelaxed(DataLayout.publishedBytes) >> 21)
    }
    let count = participant.collapseRefusal.count.load(ordering: .relaxed)
    // Once more at most for each minute that the test takes.
    #expect(count <= sizes.count + 10)
    #expect(count > 0 || !isMarked)
    #expect(table.statistics.hugeBytes == 0 || !isMarked)
  }
}
