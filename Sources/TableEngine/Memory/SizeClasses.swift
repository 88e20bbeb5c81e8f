import CShims

/// Which blocks there are: slab classes up to 8 KiB, then runs of 4-KiB frames.
///
/// A class's size is the largest multiple of 16 of which k fit into a slab; neighbours differ by at least an
/// eighth, so rounding up costs at most that much (less than 16 bytes for small ones).
///
/// The tables are written out: what the compiler can lay down as data costs a load, and what is made at the first use
/// costs every later use a call. Their rule is in `SizeClassTests`.
public enum SizeClasses {
  public static let slabBytes = SHM_SLAB_BYTES
  public static let frameBytes = SHM_FRAME_BYTES
  /// Classes a descriptor has room for.
  static let maximumCount = SHM_CLASSES_AT_MOST
  static let runCode = SHM_RUN_CODE

  static let count = SHM_SIZE_CLASS_COUNT
  static let largest = 8192

  /// A class's block size.
  @inline(__always)
  static func size(_ sizeClass: Int) -> Int { Int(shm_size_class_bytes(sizeClass)) }

  /// Class of a size of at most 512, by sixteenths.
  private static let classBySixteenth: [UInt8] = [
    0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 23, 24, 24, 25, 25, 26,
    26,
  ]
  /// Class of a larger size, by how many blocks of that size fit into a slab.
  private static let classByCount: [UInt8] = [
    0, 0, 41, 40, 39, 38, 37, 36, 35, 35, 34, 34, 33, 33, 32, 32, 31, 31, 30, 30, 30, 29, 29, 29, 28, 28, 28, 28, 27,
    27,
    27, 27,
  ]

  /// The smallest classes are of 32, 48, 64 bytes and so on: so many.
  private static let evenCount: UInt = 23

  /// The size code for a block of at least `byteCount` bytes.
  @inline(__always)
  static func code(byteCount: Int) -> Int {
    let steps = UInt(bitPattern: byteCount &+ 15) / 16 &- 2
    return _fastPath(steps < evenCount) ? Int(bitPattern: steps) : code(ofMany: (byteCount &+ 15) >> 4)
  }

  private static func code(ofMany sixteenths: Int) -> Int {
    if sixteenths <= 32 { return Int(classBySixteenth[sixteenths]) }
    if sixteenths <= largest / 16 { return Int(classByCount[slabBytes / 16 / sixteenths]) }
    return runCode + (sixteenths + frameBytes / 16 - 1) / (frameBytes / 16)
  }

  @inline(__always)
  static func byteCount(code: Int) -> Int {
    _fastPath(code < runCode) ? size(code) : (code - runCode) * frameBytes
  }

  /// Whether this can be a size code: a word that was read beside a writer may hold any other.
  static func isCode(_ code: Int) -> Bool { code >= runCode || (0..<count).contains(code) }

  static func blocksPerSlab(_ sizeClass: Int) -> Int { indexInSlab(slabBytes, sizeClass) }

  /// Which block of its slab lies at `within` bytes. In 32 bits: a division of 64 takes twice as long.
  static func indexInSlab(_ within: Int, _ sizeClass: Int) -> Int {
    Int(truncatingIfNeeded: UInt32(truncatingIfNeeded: within) / shm_size_class_bytes(sizeClass))
  }
}
