import Testing

@testable import TableEngine

/// Sizes near 4 GiB: too large to be stored in a test, so their arithmetic is looked at.
@Suite struct LargestValueTests {
  @Test func theLargestValueHasABlockThatCanBeNamed() {
    let longest = Geometry(capacityBytes: Geometry.maximumCapacity).maximumValueLength
    let attributes = ValueAttributes(type: 1, expiry: 1, fingerprint: 1, alignmentShift: 4)
    for keyLength in [1, 2, 15, 16, Entry.maximumKeyLength - 1, Entry.maximumKeyLength] {
      let meta = EntryMeta(keyLength: keyLength, valueLength: longest, attributes)
      #expect(meta.valueLength == longest && meta.keyLength == keyLength)
      let code = SizeClasses.code(byteCount: meta.byteCount)
      let block = BlockRef(offset: 1 << 41, code: code)
      #expect(block.code == code && block.offset == 1 << 41)
      #expect(block.byteCount >= meta.byteCount)
    }
    #expect(longest > 4 << 30 - 1 << 20)
  }

  @Test func aQuarterOfTheCapacityIsTheLimitOfSmallerTables() {
    #expect(Geometry(capacityBytes: 64 << 20).maximumValueLength == 16 << 20)
  }
}
