import CShims

/// Which blocks there are: slab classes up to 4 KiB, then runs of 1-KiB frames.
///
/// A class's size is the largest multiple of 16 of which k fit into a slab. Neighbours differ by 16 bytes, and larger ones by an
/// eighth to a quarter: so rounding up wastes at most a fifth of a block, and a twelfth on average.
///
/// The list of sizes is written out, in `shm_size_classes.h`: what the compiler can lay down as data costs a load, and what
/// is made at the first use costs every later use a call. `SizeClassTests` compares the list with its rule.
public enum SizeClasses {
  public static let slabBytes = SHM_SLAB_BYTES
  public static let frameBytes = SHM_FRAME_BYTES
  /// Classes a descriptor has room for.
  static let maximumCount = SHM_CLASSES_AT_MOST
  static let runCode = SHM_RUN_CODE

  static let count = SHM_SIZE_CLASS_COUNT
  static let largest = 4096

  /// A class's block size.
  @inline(__always)
  static func size(_ sizeClass: Int) -> Int { Int(shm_size_class_bytes(sizeClass)) }

  /// The smallest classes are of 32, 48, 64 bytes and so on: so many.
  static let evenCount: UInt = 23

  /// The size code for a block of at least `byteCount` bytes. Not by way of ``BlockSize``, whose part out of line returns two
  /// words: a `set` would take 7 instructions more.
  @inline(__always)
  static func code(byteCount: Int) -> Int {
    let steps = UInt(bitPattern: byteCount &+ 15) / 16 &- 2
    return _fastPath(steps < evenCount) ? Int(bitPattern: steps) : code(ofMany: (byteCount &+ 15) >> 4)
  }

  @inline(never)
  private static func code(ofMany sixteenths: Int) -> Int { code(sixteenths: sixteenths) }

  /// As ``code(byteCount:)``, all inlined but for runs: for blocks that are mostly large.
  @inline(__always)
  static func code(largeByteCount byteCount: Int) -> Int { code(sixteenths: (byteCount &+ 15) >> 4) }

  @inline(__always)
  private static func code(sixteenths: Int) -> Int {
    _fastPath(sixteenths <= largest / 16) ? Int(shm_size_class(sixteenths)) : runCode(sixteenths)
  }

  @inline(never)
  private static func runCode(_ sixteenths: Int) -> Int {
    runCode + (sixteenths + frameBytes / 16 - 1) / (frameBytes / 16)
  }

  @inline(__always)
  static func byteCount(code: Int) -> Int {
    _fastPath(code < runCode) ? size(code) : (code - runCode) * frameBytes
  }

  /// Whether this can be a size code: a word that was read beside a writer may hold any other.
  static func isCode(_ code: Int) -> Bool { code > runCode || (0..<count).contains(code) }

  static func blocksPerSlab(_ sizeClass: Int) -> Int { indexInSlab(slabBytes, sizeClass) }

  /// Which block of its slab lies at `within` bytes, at most a slab's.
  static func indexInSlab(_ within: Int, _ sizeClass: Int) -> Int { Int(shm_index_in_slab(within, sizeClass)) }
}
