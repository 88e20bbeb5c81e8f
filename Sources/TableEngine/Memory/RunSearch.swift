/// Looks for a run of free frames, unit by unit; a run may cross units.
struct RunSearch {
  let allocator: Allocator
  /// Frames.
  let wanted: Int
  /// Superframes, counted over all units, whose frames do not count as free.
  let avoided: Range<Int>
  /// Nor those of superframes that are free as a whole.
  let sparesSuperframes: Bool
  private var start = 0
  private var length = 0

  init(allocator: Allocator, wanted: Int, avoided: Range<Int> = 0..<0, sparesSuperframes: Bool = false) {
    self.allocator = allocator
    self.wanted = wanted
    self.avoided = avoided
    self.sparesSuperframes = sparesSuperframes
  }

  /// Goes on with a unit's `usable` superframes, behind those of the last call.
  /// - Returns: the run, if it is found in this unit or ends there.
  mutating func scan(_ unit: Int, _ usable: UInt64) -> BlockRef? {
    guard allocator.unitHints.isUnitSet(Summary.freeFrame, unit) else {
      length = 0
      return nil
    }
    var any = usable != .max
    for superframe in 0..<Geometry.superframesPerUnit {
      allocator.work.bitmapWords += 1
      let isUsable = usable & (1 << UInt64(superframe)) != 0 && allocator.kind(unit, superframe) == 0
      let free = isUsable ? allocator.freeFrames(unit, superframe) : 0
      any = any || free != 0
      let number = unit * Geometry.superframesPerUnit + superframe
      if free == 0 || avoided.contains(number) || (free == Allocator.allFrames && sparesSuperframes) {
        length = 0
      } else if extend(free, superframe: number) {
        return BlockRef(
          offset: allocator.geometry.unitsOffset + start * SizeClasses.frameBytes, code: SizeClasses.runCode + wanted)
      }
    }
    if !any { allocator.unitHints.clear(Summary.freeFrame, unit) }
    return nil
  }

  /// Goes on with a superframe's free frames.
  /// - Returns: whether the run is as long as wanted.
  private mutating func extend(_ free: UInt64, superframe: Int) -> Bool {
    var frame = superframe * Geometry.framesPerSuperframe
    let end = frame + Geometry.framesPerSuperframe
    var rest = free
    while true {
      let count = (~rest).trailingZeroBitCount
      if length == 0 { start = frame }
      length += count
      if length >= wanted { return true }
      frame += count
      if frame == end { return false }
      length = 0
      rest >>= UInt64(count)
      if rest == 0 { return false }
      frame += rest.trailingZeroBitCount
      rest >>= UInt64(rest.trailingZeroBitCount)
    }
  }
}
