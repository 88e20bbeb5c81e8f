/// How much is in use, by counting bits.
extension Allocator {
  /// Work grows with the table. Without W each unit's figure is of a moment of its own.
  var usage: MemoryUse {
    var use = MemoryUse()
    let units = min(unitCount, geometry.unitCount)
    use.unclaimed = (geometry.unitCount - units) * Geometry.unitBytes
    for unit in 0..<units {
      for superframe in 0..<Geometry.superframesPerUnit { count(unit, superframe, &use) }
    }
    return use
  }

  private func count(_ unit: Int, _ superframe: Int, _ use: inout MemoryUse) {
    let kind = kind(unit, superframe)
    if kind == 0 {
      let free = freeFrames(unit, superframe).nonzeroBitCount
      use.used += (Geometry.framesPerSuperframe - free) * SizeClasses.frameBytes
      if free == Geometry.framesPerSuperframe {
        use.freeSuperframes += SizeClasses.slabBytes
      } else {
        use.freeFrames += free * SizeClasses.frameBytes
      }
    } else if kind <= SizeClasses.count {
      let size = SizeClasses.size(kind - 1)
      // It may have become a slab of smaller blocks meanwhile.
      let blocks = min(usedBlocks(unit, superframe), SizeClasses.blocksPerSlab(kind - 1))
      use.used += blocks * size
      use.freeInSlabs += (SizeClasses.blocksPerSlab(kind - 1) - blocks) * size
    }
  }

  /// Bytes of blocks and frames in use.
  var usedBytes: Int { usage.used }

  /// Blocks of a slab that are in use.
  func usedBlocks(_ unit: Int, _ superframe: Int) -> Int {
    (0..<8).reduce(0) { $0 + ctl.loadRelaxed(usedBits(unit, superframe) + $1 * 8).nonzeroBitCount }
  }
}
