/// What the units' memory is used for, in bytes. Its parts add up to the table's capacity, but for slabs' remainders.
public struct MemoryUse: Sendable, Equatable {
  /// Blocks and frames in use.
  public var used = 0
  /// Free blocks of slabs that have some in use: room for values of those sizes only.
  public var freeInSlabs = 0
  /// Free frames in superframes of which others are in use: room for values from 2 to 12 KiB, or parts of longer ones.
  public var freeFrames = 0
  /// Superframes of 16 KiB with nothing in them: room for anything.
  public var freeSuperframes = 0
  /// Units that the table may still claim from /dev/shm.
  public var unclaimed = 0

  public init() {}
}

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
      let free = nibble(unit, superframe).nonzeroBitCount
      use.used += (4 - free) * SizeClasses.frameBytes
      if free == 4 {
        use.freeSuperframes += SizeClasses.slabBytes
      } else {
        use.freeFrames += free * SizeClasses.frameBytes
      }
    } else if kind <= SizeClasses.count {
      let size = SizeClasses.size(kind - 1)
      let blocks = usedBlocks(unit, superframe)
      use.used += blocks * size
      use.freeInSlabs += max(0, SizeClasses.blocksPerSlab(kind - 1) - blocks) * size
    }
  }

  /// Bytes of blocks and frames in use.
  var usedBytes: Int { usage.used }

  /// Blocks of a slab that are in use.
  func usedBlocks(_ unit: Int, _ superframe: Int) -> Int {
    (0..<8).reduce(0) { $0 + ctl.loadRelaxed(usedBits(unit, superframe) + $1 * 8).nonzeroBitCount }
  }
}
