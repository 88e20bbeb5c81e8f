/// The size of a block: its code, and how many bytes it has.
///
/// For the smallest classes, which most blocks are of, the same few instructions give both. Whoever has the code alone has to ask whether
/// it is a class's and look into a table.
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

  init(code: Int) { self.init(code: code, byteCount: SizeClasses.byteCount(code: code)) }

  @inline(__always)
  private init(code: Int, byteCount: Int) {
    self.code = code
    self.byteCount = byteCount
  }

  @inline(never)
  private static func large(holding byteCount: Int) -> BlockSize {
    BlockSize(code: SizeClasses.code(largeByteCount: byteCount))
  }
}
