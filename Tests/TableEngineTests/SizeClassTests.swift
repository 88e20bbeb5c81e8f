import Testing

@testable import TableEngine

/// The rule that the written-out tables of ``SizeClasses`` follow.
@Suite struct SizeClassTests {
  @Test func sizesGrowByAnEighthAndFillTheirSlabs() {
    var sizes: [Int] = []
    var size = 32
    while size <= 512 {
      sizes.append(size)
      size += max(16, (size / 12) & ~15)
    }
    // Of fewer blocks than four a slab would waste more than runs of frames do.
    for count in (4..<SizeClasses.slabBytes / 512).reversed() {
      let next = (SizeClasses.slabBytes / count) & ~15
      if next * 8 >= sizes[sizes.count - 1] * 9 { sizes.append(next) }
    }
    #expect((0..<SizeClasses.count).map(SizeClasses.size) == sizes)
    #expect(sizes.count <= SizeClasses.maximumCount)
    #expect(sizes.last == SizeClasses.largest)
  }

  @Test func aBlockIsOfTheSmallestClassThatHoldsIt() {
    for byteCount in 1...SizeClasses.largest {
      let code = SizeClasses.code(byteCount: byteCount)
      #expect(SizeClasses.size(code) >= byteCount)
      #expect(code == 0 || SizeClasses.size(code - 1) < byteCount)
    }
    #expect(SizeClasses.code(byteCount: SizeClasses.largest + 1) == SizeClasses.runCode + 5)
  }

  @Test func aSizeIsThatOfTheCode() {
    for byteCount in 1...3 * SizeClasses.largest {
      let size = BlockSize(holding: byteCount)
      #expect(size.code == SizeClasses.code(byteCount: byteCount), "\(byteCount)")
      #expect(size.byteCount == SizeClasses.byteCount(code: size.code), "\(byteCount)")
    }
  }

  @Test func aPlaceInASlabTellsTheBlock() {
    for sizeClass in 0..<SizeClasses.count {
      let size = SizeClasses.size(sizeClass)
      #expect(SizeClasses.blocksPerSlab(sizeClass) == SizeClasses.slabBytes / size)
      for within in 0...SizeClasses.slabBytes {
        #expect(SizeClasses.indexInSlab(within, sizeClass) == within / size)
      }
    }
  }
}
