enum Rate {
  /// How fast a count has grown, rounded; 0 for no time. 0 also where it is less than before: a repair begins to count anew, and what a
  /// damaged table says may be any number.
  static func perSecond(from first: UInt64, to last: UInt64, in duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    let elapsed = Double(seconds) + Double(attoseconds) / 1e18
    guard elapsed > 0, last > first else { return 0 }
    let rate = (Double(last - first) / elapsed).rounded()
    return rate < 0x1p64 ? UInt64(rate) : .max
  }
}
