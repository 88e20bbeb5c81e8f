/// Finds that a walk along offsets, which damage may have led astray, goes in a circle (Brent, "An improved Monte Carlo factorization
/// algorithm", 1980): the walk remembers where it was at every step to a power of two, and comes back there within a few rounds.
struct CircleDetector {
  private var steps = 0
  private var anchor = 0

  /// Notes a step of the walk.
  /// - Returns: whether it led to a place where the walk was before.
  mutating func closes(from place: Int, to next: Int) -> Bool {
    steps += 1
    if steps & (steps - 1) == 0 { anchor = place }
    return next == anchor
  }
}
