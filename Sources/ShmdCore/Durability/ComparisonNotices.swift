import Logging
import Synchronization

/// Says that stores were compared with their tables. Where a table's log overruns all the time, that is each few seconds: one line then, and a line
/// with their number each minute.
final class ComparisonNotices: Sendable {
  private struct Notice {
    var said: ContinuousClock.Instant
    /// Comparisons since.
    var unsaid = 0
  }

  private static let pause = Duration.seconds(60)

  private let log: Logger
  private let notices = Mutex<[String: Notice]>([:])

  init(_ log: Logger) { self.log = log }

  /// A store was compared.
  func note(_ table: String, now: ContinuousClock.Instant = .now) {
    let isFirst = notices.withLock { notices in
      notices[table]?.unsaid += 1
      if notices[table] != nil { return false }
      notices[table] = Notice(said: now)
      return true
    }
    if isFirst { log.notice("store compared with its table", metadata: ["table": "\(table)"]) }
  }

  /// Says how many there were, where a minute has passed. In each round.
  func sayNumbers(now: ContinuousClock.Instant = .now) {
    let due = notices.withLock { notices in
      let due = notices.filter { now - $0.value.said >= Self.pause }
      // After a minute without any the next one is said at once.
      for (table, notice) in due { notices[table] = notice.unsaid > 0 ? Notice(said: now) : nil }
      return due.filter { $0.value.unsaid > 0 }.sorted { $0.key < $1.key }
    }
    for (table, notice) in due {
      log.notice(
        "store compared with its table again; where the table's log overran, a larger capacity gives it a longer one",
        metadata: ["table": "\(table)", "times": "\(notice.unsaid)"])
    }
  }
}
