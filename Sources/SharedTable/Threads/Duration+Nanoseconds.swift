extension Duration {
  /// This duration in nanoseconds, between 0 and 285 years.
  @usableFromInline
  package var clampedNanoseconds: UInt64 {
    if self <= .zero { return 0 }
    // Compared as a whole: a sum of times may have more seconds than its components hold.
    if self >= .seconds(9_000_000_000) { return 9_000_000_000_000_000_000 }
    let (seconds, attoseconds) = components
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
