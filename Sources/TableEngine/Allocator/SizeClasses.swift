/// Which blocks there are: slab classes up to 16 KiB, then runs of 4-KiB frames.
///
/// A class's size is the largest multiple of 16 of which k fit into a slab; neighbours differ by at least an
/// eighth, so rounding up costs at most that much (less than 16 bytes for small ones).
public enum SizeClasses {
  public static let slabBytes = 16_384
  public static let frameBytes = 4_096
  /// Classes a descriptor has room for.
  static let maximumCount = 64
  static let runCode = 64

  static let sizes: [Int] = {
    var sizes: [Int] = []
    var size = 32
    while size <= 512 {
      sizes.append(size)
      size += max(16, (size / 12) & ~15)
    }
    var count = slabBytes / 512 - 1
    while count >= 2 {
      let next = (slabBytes / count) & ~15
      if next * 8 >= sizes[sizes.count - 1] * 9 { sizes.append(next) }
      count -= 1
    }
    precondition(sizes.count <= maximumCount)
    return sizes
  }()

  /// Class of a size, by sixteenths: one load for what the hot path asks.
  static let classBySixteenth: [UInt8] = {
    var table: [UInt8] = []
    var index = 0
    for sixteenth in 0...(sizes[sizes.count - 1] / 16) {
      while sizes[index] < sixteenth * 16 { index += 1 }
      table.append(UInt8(index))
    }
    return table
  }()

  /// The size code for a block of at least `byteCount` bytes.
  @usableFromInline
  static func code(byteCount: Int) -> Int {
    if byteCount <= sizes[sizes.count - 1] { return Int(classBySixteenth[(byteCount + 15) >> 4]) }
    return runCode + (byteCount + frameBytes - 1) / frameBytes
  }

  @usableFromInline
  static func byteCount(code: Int) -> Int {
    code < runCode ? sizes[code] : (code - runCode) * frameBytes
  }

  static func blocksPerSlab(_ sizeClass: Int) -> Int { slabBytes / sizes[sizeClass] }
}
