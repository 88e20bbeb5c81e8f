enum Rate {
  /// Rounded; 0 for no time.
  static func perSecond(_ count: UInt64, in duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    let elapsed = Double(seconds) + Double(attoseconds) / 1e18
    guard elapsed > 0 else { return 0 }
    return UInt64((Double(count) / elapsed).rounded())
  }
}
