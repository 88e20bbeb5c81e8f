import SharedTable
import TableMirror
import ToolSupport

/// Says in which keys a mirror's table and its etcd differ, as of one revision.
///
/// That is the table's own, by which etcd is asked for what it was then. A prefix that changes seldom stands at a revision that etcd has
/// compacted away long since. Then it is where etcd is now, as soon as the table says that it is as new: if it is not past that
/// revision by then, nothing has changed in between, and both must be the same.
struct UpstreamDiff {
  private let table: Table
  private let options: CommonOptions

  private static let mostAttempts = 5

  init(_ table: Table, _ options: CommonOptions) {
    self.table = table
    self.options = options
  }

  private struct Seen {
    let status: UpstreamStatus
    let difference: KeyDifference
  }

  func run() throws {
    var seen = try look()
    for _ in 0..<Self.mostAttempts {
      let etcd = try EtcdControl(seen.status, table: table.name, timeout: options.timeout.duration)
      if let difference = try difference(seen, etcd, at: seen.status.revision) {
        return try difference.tell(json: options.json)
      }
      let revision = try etcd.position()
      seen = try lookWhenNew(seen.status)
      guard seen.status.revision <= revision else { continue }
      if let difference = try difference(seen, etcd, at: revision) { return try difference.tell(json: options.json) }
    }
    throw Complaint(
      .timedOut, table: table.name,
      "etcd compacted each revision that it was asked for; ask again when it does so less often")
  }

  /// What the table holds, and of which revision it is: of one moment.
  private func look() throws -> Seen {
    try RecordScan.run(table) { view in
      guard let status = try table.upstream.status(in: view), status.revision > 0 else {
        throw Complaint(
          .timedOut, table: table.name,
          "it never was whole yet; see 'shmctl upstream status', and wait until it follows")
      }
      var difference = KeyDifference(ignoreExpiry: true)
      try view.forEachRecord(of: table) { record in difference.add(first: record) }
      return Seen(status: status, difference: difference)
    }
  }

  /// - Returns: nil if etcd does not have the revision any more.
  private func difference(_ seen: Seen, _ etcd: EtcdControl, at revision: Int64) throws -> KeyDifference? {
    var difference = seen.difference
    do {
      try etcd.forEachPage(at: revision) { page, last in
        page.forEachRecord(above: last, of: etcd.contents) { record in difference.add(second: record) }
      }
    } catch is EtcdControl.Compacted {
      return nil
    }
    return difference
  }

  /// Looks when the table is known to be as new as etcd is at the call. A mirror that is away may follow again in time.
  private func lookWhenNew(_ before: UpstreamStatus) throws -> Seen {
    let now = UpstreamStatus.Moment.now
    let deadline = ContinuousClock.now + options.timeout.duration
    while true {
      let version = table.version
      let status = try table.upstream.status()
      if let status, status.isAsNew(as: now) { return try look() }
      let left = deadline - ContinuousClock.now
      guard let status, status.state != .stopped, left > .zero else { throw compacted(before, now: status ?? before) }
      _ = try table.waitForCommit(after: version, timeout: left)
    }
  }

  private func compacted(_ before: UpstreamStatus, now: UpstreamStatus) -> Complaint {
    let problem = now.problem.isEmpty ? "" : " (\(now.problem))"
    return Complaint(
      .timedOut, table: table.name,
      "etcd has compacted revision \(before.revision), which the table is, and the mirror is \(now.state.rawValue)\(problem): it does not say "
        + "that it is as new as etcd is now; ask again when it follows, or allow more --timeout")
  }
}
