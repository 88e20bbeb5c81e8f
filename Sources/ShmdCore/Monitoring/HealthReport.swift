/// Whether all that the daemon keeps is in order; each reason why not, a line.
struct HealthReport: Sendable {
  let reasons: [String]

  /// The table thread has not answered for so long: it hangs.
  private static let longestSilenceNanoseconds: UInt64 = 15_000_000_000

  /// For how long the table thread has not answered, if that is too long; else nil.
  static func silence(since sample: HostSample, now: UInt64) -> UInt64? {
    let silence = now > sample.takenNanoseconds ? now - sample.takenNanoseconds : 0
    // It grows with the tables: a thousand large ones take their time.
    return silence > longestSilenceNanoseconds + 2 * MonitoringService.pause(after: sample) ? silence : nil
  }

  init(_ sample: HostSample, now: UInt64) {
    var reasons: [String] = []
    if let silence = Self.silence(since: sample, now: now) {
      reasons.append("the table thread has not answered for \(silence / 1_000_000_000) s")
    }
    reasons += sample.blocked.map { "table '\($0.table)' cannot be had: \($0.problem)" }
    for table in sample.tables {
      if table.statistics.isDamaged {
        reasons.append("table '\(table.name)' is damaged; look with 'shmctl check \(table.name)'")
      }
      if let trouble = table.trouble { reasons.append("table '\(table.name)' is in trouble: \(trouble)") }
    }
    self.reasons = reasons + (sample.storeTroubles + sample.mirrorTroubles).map { "table \($0)" }
  }
}
