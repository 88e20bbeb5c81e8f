/// How full tables were during the last five minutes.
struct FillHistory: Sendable {
  static let secondsPerPoint = 2
  static let pointCount = 150

  /// One point of a table: how full it was, in thousandths of its capacity, and how many commits it had. (Its version jumps when it comes back from its store.)
  struct Point: Sendable, Equatable {
    let fill: Int
    let commits: UInt64
  }

  private(set) var points: [String: [Point]] = [:]
  private var lastNanoseconds: UInt64?

  /// Takes a point of each table if the last is old enough. Tables that are not among `samples` are forgotten.
  mutating func add(_ samples: [TableSample], at nanoseconds: UInt64) {
    // Half a second of tolerance: samples do not come to the nanosecond.
    let least = UInt64(Self.secondsPerPoint) * 1_000_000_000 - 500_000_000
    if let lastNanoseconds, nanoseconds - lastNanoseconds < least { return }
    lastNanoseconds = nanoseconds
    var next: [String: [Point]] = [:]
    for sample in samples {
      let point = Point(fill: sample.fill, commits: sample.statistics.commitCount)
      next[sample.name] = ((points[sample.name] ?? []) + [point]).suffix(Self.pointCount)
    }
    points = next
  }

  /// Commits a second over the last points.
  func commitRate(of table: String) -> Double {
    guard let last = points[table]?.suffix(4), let first = last.first, let end = last.last, last.count > 1,
      end.commits >= first.commits
    else { return 0 }
    return Double(end.commits - first.commits) / Double((last.count - 1) * Self.secondsPerPoint)
  }
}
