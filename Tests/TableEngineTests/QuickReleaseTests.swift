import Testing

@testable import SharedTable
@testable import TableEngine

/// A block is made free by one store only where that is all that ``Allocator/release(_:)`` would do.
@Suite struct QuickReleaseTests {
  /// A new table's allocator, and a slab of blocks of this size, all of them in use.
  private static func withFullSlab(_ byteCount: Int, _ body: (WriterState, [BlockRef]) throws -> Void) throws {
    let table = try Table.temporary(capacityBytes: 16 << 20)
    let state = try #require(table.segment.participant).state
    let code = SizeClasses.code(byteCount: byteCount)
    var blocks: [BlockRef] = []
    for _ in 0..<SizeClasses.blocksPerSlab(code) { try blocks.append(take(code, state)) }
    #expect(Set(blocks.map { superframe($0, state) }).count == 1)
    try body(state, blocks)
  }

  private static func take(_ code: Int, _ state: WriterState) throws -> BlockRef {
    let block = try state.allocator.find(code: code, for: .anything)
    state.allocator.mark(block)
    return block
  }

  private static func superframe(_ block: BlockRef, _ state: WriterState) -> Int {
    (block.offset - state.geometry.unitsOffset) / SizeClasses.slabBytes
  }

  private static func isSlab(_ block: BlockRef, _ state: WriterState) -> Bool {
    state.allocator.isSlab(frame: superframe(block, state) * Geometry.framesPerSuperframe)
  }

  private static func quickRelease(_ block: BlockRef, _ state: WriterState) -> Allocator.QuickRelease? {
    FreePass(state: state).quickRelease(of: block)
  }

  /// Of a full slab no hint says that it has room: the first block that becomes free has to say so.
  @Test(arguments: [40, 1100]) func theFirstBlockOfAFullSlabIsReleasedWithItsHints(byteCount: Int) throws {
    try Self.withFullSlab(byteCount) { state, blocks in
      // The search clears the hint of a slab that it finds full.
      _ = try Self.take(blocks[0].code, state)
      #expect(Self.quickRelease(blocks[0], state) == nil)
      state.allocator.release(blocks[0])
      #expect(Self.quickRelease(blocks[1], state) != nil)
    }
  }

  /// Each store clears the one bit, and the last block of a word of bits is left to who looks whether the slab is empty.
  @Test(arguments: [40, 1100]) func oneStoreClearsOneBitAndLeavesTheLastOfAWord(byteCount: Int) throws {
    try Self.withFullSlab(byteCount) { state, blocks in
      var left = Set(blocks.indices)
      for index in blocks.indices.shuffled() {
        left.remove(index)
        if let release = Self.quickRelease(blocks[index], state) {
          state.ctl.storeRelaxed(release.word, release.left)
          #expect(left.contains { $0 / 64 == index / 64 })
        } else {
          state.allocator.release(blocks[index])
          #expect(!left.contains { $0 / 64 == index / 64 })
        }
        #expect(blocks.indices.filter { state.allocator.isMarked(blocks[$0]) } == left.sorted())
        #expect(Self.isSlab(blocks[index], state) == !left.isEmpty)
      }
    }
  }

  @Test func aRunIsNotReleasedByOneStore() throws {
    let table = try Table.temporary(capacityBytes: 16 << 20)
    let state = try #require(table.segment.participant).state
    #expect(Self.quickRelease(try Self.take(SizeClasses.code(byteCount: 100_000), state), state) == nil)
  }
}
