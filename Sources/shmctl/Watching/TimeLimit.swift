import SharedTable
import ToolSupport

/// How long a command goes on that has no end of its own: as `--timeout` says, without it for ever.
struct TimeLimit {
  private let table: String
  private let limit: TimeSpan?
  private let end: ContinuousClock.Instant?

  init(_ options: CommonOptions, _ table: Table) {
    self.table = table.name
    limit = options.givenTimeout
    end = limit.map { ContinuousClock.now + $0.duration }
  }

  /// How long the next wait may last.
  /// - Throws: `timedOut` if the time is over.
  func left(atMost most: Duration = .seconds(3600)) throws(Complaint) -> Duration {
    guard let limit, let end else { return most }
    let left = end - .now
    guard left > .zero else {
      throw Complaint(.timedOut, table: table, "the \(limit) of --timeout are over; give more, or leave it out")
    }
    return min(left, most)
  }
}
