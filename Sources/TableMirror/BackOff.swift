/// How long to wait before the next try: longer after each failure, and never as long as others do.
///
/// Each wait is random between a half and the whole of its length: hosts that lost a store in one moment come back spread out.
public struct BackOff: Sendable, Equatable {
  public var shortest = Duration.milliseconds(100)
  public var longest = Duration.seconds(15)
  private var failures = 0

  public init(shortest: Duration = .milliseconds(100), longest: Duration = .seconds(15)) {
    self.shortest = shortest
    self.longest = longest
  }

  /// - Parameter random: from 0 up to and without 1.
  public mutating func next(random: Double = .random(in: 0..<1)) -> Duration {
    let whole = min(longest, shortest * (1 << min(failures, 20)))
    failures += 1
    return whole / 2 + whole / 2 * random
  }

  /// What was tried has gone well, for longer than ``longest``.
  public mutating func reset() { failures = 0 }
}
