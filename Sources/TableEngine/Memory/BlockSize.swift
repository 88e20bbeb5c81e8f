/// The size of a block: its code, and how many bytes it has.
///
/// Both come from the same few instructions for most blocks, those of the smallest classes. To get the one from the other later would
/// take a look into a table, and before it the question whether the code is a class's.
struct BlockSize {
  let code: Int
  let byteCount: Int

  /// Of the smallest block with at least so many bytes.
  @inline(__always)
  init(holding byteCount: Int) {
    let rounded = UInt(bitPattern: byteCount &+ 15) & ~15
    let steps = rounded / 16 &- 2
    if _fastPath(steps < SizeClasses.evenCount) {
      self.init(code: Int(bitPattern: steps), byteCount: Int(bitPattern: rounded))
    } else {
      self = Self.large(holding: byteCount)
    }
  }

  @inline(__always)
  private init(code: Int, byteCount: Int) {
    self.code = code
    self.byteCount = byteCount
  }

  @inline(never)
  private static func large(holding byteCount: Int) -> BlockSize {
    let code = SizeClasses.code(largeByteCount: byteCount)
    return BlockSize(code: code, byteCount: SizeClasses.byteCount(code: code))
  }
}
