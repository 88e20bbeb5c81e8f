/// Marsaglia's xorshift: an order that no cache foresees, at the cost of a nanosecond.
struct SmallRandom {
  private var state: UInt64 = 0x9e37_79b9_7f4a_7c15

  mutating func below(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(truncatingIfNeeded: state >> 33) % bound
  }
}
