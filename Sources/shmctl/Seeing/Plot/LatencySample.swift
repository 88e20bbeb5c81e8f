import SharedMemory

/// How long single operations took, in nanoseconds.
struct LatencySample {
  /// Of all operations, or of as many, evenly spread, as were kept.
  private(set) var nanoseconds: [UInt64] = []
  /// How many were measured.
  let operationCount: Int

  /// - Parameter operationCount: nil: no others were measured.
  init(_ nanoseconds: [UInt64] = [], of operationCount: Int? = nil) {
    self.nanoseconds = nanoseconds.sorted()
    self.operationCount = operationCount ?? nanoseconds.count
  }

  var count: Int { nanoseconds.count }

  /// The least value that so many percent are not above; nil of nothing.
  func percentile(_ percent: Double) -> UInt64? {
    guard !nanoseconds.isEmpty else { return nil }
    let rank = (percent / 100 * Double(count)).rounded(.up)
    return nanoseconds[min(count - 1, max(0, Int(rank) - 1))]
  }

  /// Counts by halves of powers of two: [2^i, 1.5·2^i), [1.5·2^i, 2^(i+1)), from the first that has any to the last.
  var histogram: [(from: UInt64, below: UInt64, count: Int)] {
    var counts: [UInt64: Int] = [:]
    for value in nanoseconds { counts[Self.floor(value), default: 0] += 1 }
    guard let least = counts.keys.min(), let most = counts.keys.max() else { return [] }
    var bars: [(from: UInt64, below: UInt64, count: Int)] = []
    var from = least
    while from <= most {
      let below = Self.next(from)
      bars.append((from, below, counts[from] ?? 0))
      from = below
    }
    return bars
  }

  private static func floor(_ value: UInt64) -> UInt64 {
    guard value >= 2 else { return value }
    let power: UInt64 = 1 << UInt64(63 - value.leadingZeroBitCount)
    return value >= power + power / 2 ? power + power / 2 : power
  }

  private static func next(_ floor: UInt64) -> UInt64 {
    guard floor >= 2 else { return floor + 1 }
    let power: UInt64 = 1 << UInt64(63 - floor.leadingZeroBitCount)
    return floor == power ? power + power / 2 : power * 2
  }

  // MARK: - Measuring

  static var now: UInt64 { HostClock.monotonicNanoseconds }

  /// What a look at the clock takes by itself: the median, to be taken off.
  static var clockCost: UInt64 {
    LatencySample(
      (0..<1001).map { _ in
        let start = now
        return now &- start
      }
    ).percentile(50) ?? 0
  }

  /// Runs `body`, which is one operation, until the time is over, and at least once.
  /// - Parameter atMost: how many times are kept. Where there are more, every second one is kept, then every fourth, and so on.
  static func measure(
    milliseconds: UInt64, atMost: Int = 2_000_000, _ body: () throws -> Void
  ) rethrows -> LatencySample {
    let cost = clockCost
    let end = now &+ milliseconds * 1_000_000
    var taken: [UInt64] = []
    taken.reserveCapacity(1 << 16)
    var before = now
    var (number, every) = (0, 1)
    repeat {
      let start = now
      try body()
      before = now
      let elapsed = before &- start
      if number.isMultiple(of: every) {
        if taken.count >= atMost {
          taken = stride(from: 0, to: taken.count, by: 2).map { taken[$0] }
          every *= 2
        }
        if number.isMultiple(of: every) { taken.append(elapsed > cost ? elapsed - cost : 0) }
      }
      number += 1
    } while before < end
    return LatencySample(taken, of: number)
  }
}
