/// Measures runs of free frames, frame after frame.
struct FreeRun {
  /// Frames of the run that goes on where the last call ended.
  private(set) var length = 0
  /// The length of the longest run so far.
  private(set) var longest = 0

  /// Goes on with the next `count` frames.
  /// - Parameter free: which of them are free, as bits; further bits are 0.
  @inline(__always)
  mutating func extend(_ free: UInt64, count: Int) {
    var (rest, left) = (free, count)
    while true {
      let taken = (~rest).trailingZeroBitCount
      length += taken
      longest = max(longest, length)
      left -= taken
      if left == 0 { return }
      length = 0
      rest >>= UInt64(taken)
      if rest == 0 { return }
      left -= rest.trailingZeroBitCount
      rest >>= UInt64(rest.trailingZeroBitCount)
    }
  }
}
