/// How much is in use, by counting bits.
extension Allocator {
  /// Bytes of blocks and frames in use. Work grows with the table. Without W each unit's figure is of a moment of its own.
  var usedBytes: Int {
    var bytes = 0
    for unit in 0..<unitCount {
      for superframe in 0..<Geometry.superframesPerUnit {
        let kind = kind(unit, superframe)
        if kind == 0 {
          bytes += (4 - nibble(unit, superframe).nonzeroBitCount) * SizeClasses.frameBytes
        } else if kind <= SizeClasses.count {
          bytes += usedBlocks(unit, superframe) * SizeClasses.size(kind - 1)
        }
      }
    }
    return bytes
  }

  /// Blocks of a slab that are in use.
  func usedBlocks(_ unit: Int, _ superframe: Int) -> Int {
    (0..<8).reduce(0) { $0 + ctl.loadRelaxed(usedBits(unit, superframe) + $1 * 8).nonzeroBitCount }
  }
}
