/// Looks for a run of free frames, unit by unit; a run may cross units.
struct RunSearch {
  let allocator: Allocator
  /// Frames.
  let wanted: Int
  /// Superframes that are free as a whole do not count.
  let sparesSuperframes: Bool
  /// The run that reaches the end of the last unit: its first frame and how many it has, if any.
  private var start = 0
  private var length = 0

  init(allocator: Allocator, wanted: Int, sparesSuperframes: Bool = false) {
    self.allocator = allocator
    self.wanted = wanted
    self.sparesSuperframes = sparesSuperframes
  }

  /// Does a run reach the end of the last unit?
  var isInRun: Bool { length > 0 }

  /// The bound of every unit that the run may begin in is at least this.
  var leastBound: Int { min(wanted, Geometry.framesPerUnit) }

  /// Goes on with a unit's `usable` superframes, behind those of the last call.
  /// - Returns: the run, if it is found in this unit or ends there.
  mutating func scan(_ unit: Int, _ usable: UInt64) -> BlockRef? {
    guard isInRun || allocator.runBounds.bound(unit) >= leastBound else { return nil }
    for within in 0..<UnitLayout.frameWords {
      let word = unit &* UnitLayout.frameWords &+ within
      allocator.work.bitmapWords &+= 1
      let free = allocator.freeFrames(ofWord: word) & counting(usable &>> UInt64(within &* 4), word)
      if let first = find(in: free, firstFrame: word &* 64) {
        return allocator.run(first..<first + wanted)
      }
    }
    return nil
  }

  /// Goes on with the free frames of a word.
  /// - Returns: the first frame of the run, if it ends in this word.
  @inline(__always)
  private mutating func find(in free: UInt64, firstFrame: Int) -> Int? {
    let taken = (~free).trailingZeroBitCount
    if length &+ taken >= wanted { return length > 0 ? start : firstFrame }
    if wanted < 64, let bit = Self.first(wanted, in: free) { return firstFrame &+ bit }
    if taken == 64 {
      if length == 0 { start = firstFrame }
      length &+= 64
    } else {
      length = (~free).leadingZeroBitCount
      start = firstFrame &+ 64 &- length
    }
    return nil
  }

  /// The first of so many set bits in a row. (H. S. Warren, Hacker's Delight, section 6-3.)
  @inline(__always)
  private static func first(_ count: Int, in bits: UInt64) -> Int? {
    var (bits, left) = (bits, count)
    while left > 1 {
      let step = left &>> 1
      bits &= bits &>> UInt64(step)
      left &-= step
    }
    return bits == 0 ? nil : bits.trailingZeroBitCount
  }

  /// The frames of a word that count if they are free.
  @inline(__always)
  private func counting(_ usable: UInt64, _ word: Int) -> UInt64 {
    if usable & 0xf == 0xf, !sparesSuperframes { return .max }
    return Allocator.frames(ofSuperframes: usable & ~(sparesSuperframes ? allocator.freeSuperframes(ofWord: word) : 0))
  }
}
