/// How full tables were during the last five minutes, or longer where samples come more slowly.
struct FillHistory: Sendable {
  /// More lie between two points where samples come more slowly: a minute at most (``MonitoringService/pause(after:)``), and while the table thread hangs.
  static let leastSecondsPerPoint = 2
  static let pointCount = 150

  /// One point of a table: when it was taken, how full it was, in thousandths of its capacity, and how many commits it had. (Its version jumps when it comes
  /// back from its store.)
  struct Point: Sendable, Equatable {
    let nanoseconds: UInt64
    let fill: Int
    let commits: UInt64
  }

  private(set) var points: [String: [Point]] = [:]
  private var lastNanoseconds: UInt64?

  /// Takes a point of each table if the last is old enough. Tables that are not among `samples` are forgotten.
  mutating func add(_ samples: [TableSample], at nanoseconds: UInt64) {
    // Half a second of tolerance: samples do not come to the nanosecond.
    let least = UInt64(Self.leastSecondsPerPoint) * 1_000_000_000 - 500_000_000
    if let lastNanoseconds, nanoseconds - lastNanoseconds < least { return }
    lastNanoseconds = nanoseconds
    var next: [String: [Point]] = [:]
    for sample in samples {
      let point = Point(nanoseconds: nanoseconds, fill: sample.fill, commits: sample.statistics.commitCount)
      next[sample.name] = ((points[sample.name] ?? []) + [point]).suffix(Self.pointCount)
    }
    points = next
  }

  /// Commits a second over the last points.
  func commitRate(of table: String) -> Double {
    guard let last = points[table]?.suffix(4), let first = last.first, let end = last.last, end.commits >= first.commits
    else { return 0 }
    let nanoseconds = Self.span(last)
    return nanoseconds == 0 ? 0 : Double(end.commits - first.commits) * 1_000_000_000 / Double(nanoseconds)
  }

  /// How many seconds lie between two points of a table: the mean, since they may be uneven.
  func secondsPerPoint(of table: String) -> Int {
    guard let points = points[table], points.count > 1 else { return Self.leastSecondsPerPoint }
    return Int((Double(Self.span(points[...])) / Double(points.count - 1) / 1_000_000_000).rounded())
  }

  /// From the first of some points to the last, in nanoseconds.
  static func span(_ points: ArraySlice<Point>) -> UInt64 {
    guard let first = points.first, let last = points.last else { return 0 }
    return last.nanoseconds &- first.nanoseconds
  }
}
