import SharedTable
import TableMetrics
import TableStore
import ToolSupport

/// One table on the status page.
struct StatusCard {
  private let sample: TableSample
  private let store: StoreStatus?
  private let history: FillHistory

  init(_ sample: TableSample, _ store: StoreStatus?, _ history: FillHistory) {
    self.sample = sample
    self.store = store
    self.history = history
  }

  private var statistics: Table.Statistics { sample.statistics }

  var html: String {
    """
    <section class="card\(isAiling ? " ailing" : "")"><h2><span>\(sample.name.html)</span>\(badges)</h2>
    \(fill)
    <dl class="facts">\(facts.map { "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>" }.joined())</dl>
    \(notes)\(participants)\(changes)</section>
    """
  }

  private var isAiling: Bool { statistics.isDamaged || sample.trouble != nil || store?.error != nil }

  private var badges: String {
    var badges = ["<span class=\"badge\">\(sample.figures.variant)</span>"]
    if sample.durability != .none { badges.append("<span class=\"badge\">\(sample.durability.written)</span>") }
    if statistics.isDamaged { badges.append("<span class=\"badge bad\">damaged</span>") }
    if statistics.needsRecovery { badges.append("<span class=\"badge warn\">writer died</span>") }
    return badges.joined()
  }

  // MARK: - Fill

  private var fill: String {
    let share = "\(sample.fill / 10).\(sample.fill % 10) %"
    let level = sample.fill >= 950 ? "full" : sample.fill >= 800 ? "high" : "low"
    let used = Quantity.bytes(statistics.usedBytes ?? statistics.claimedBytes)
    return """
      <div class="fill"><div class="bar" role="meter" aria-label="fill" aria-valuemin="0" aria-valuemax="100" \
      aria-valuenow="\(sample.fill / 10)"><i class="\(level)" style="width:\(min(sample.fill, 1000) / 10).\(sample.fill % 10)%"></i></div>\
      <b>\(share)</b><span class="dim">\(used) of \(Quantity.bytes(statistics.capacityBytes))</span></div>
      \(chart)
      """
  }

  /// The fill of the last minutes, newest at the right: a unit of its width is a millisecond.
  private var chart: String {
    let points = history.points[sample.name] ?? []
    guard points.count > 1, let last = points.last else { return "" }
    let span = FillHistory.span(points[...]) / 1_000_000
    let width = max(UInt64(FillHistory.pointCount * FillHistory.leastSecondsPerPoint) * 1000, span)
    let line = points.map { point in
      "\(width - (last.nanoseconds - point.nanoseconds) / 1_000_000),\(1000 - min(point.fill, 1000))"
    }.joined(separator: " ")
    let time = RoundedTime(nanoseconds: width * 1_000_000)
    return """
      <svg class="chart" viewBox="0 0 \(width) 1000" preserveAspectRatio="none" role="img" aria-label="fill of the last \(time)">\
      <polygon points="\(width - span),1000 \(line) \(width),1000"/><polyline points="\(line)"/></svg>\
      <div class="axis dim"><span>\(time) ago</span><span>now</span></div>
      """
  }

  // MARK: - Facts

  private var facts: [(String, String)] {
    var facts: [(String, String)] = [
      ("keys", Quantity.number(statistics.keyCount)),
      ("commits", Quantity.number(statistics.commitCount)),
      ("commits/s", Quantity.rate(history.commitRate(of: sample.name))),
      ("writes now", statistics.writer.map(Self.holder) ?? "nobody"),
    ]
    if let waits = statistics.barrierWaits {
      let waited = waits.byLogarithm.reduce(0, &+)
      // As floating point: a damaged table's counters may be anything.
      let total = Double(waited) + Double(waits.none)
      facts.append(("had to wait", total == 0 ? "none" : "\(Int(Double(waited) * 100 / total)) %"))
    }
    if let limbo = statistics.limboBytes { facts.append(("limbo", Quantity.bytes(limbo))) }
    if sample.figures.oldestReaderNanoseconds > 0 {
      facts.append(("oldest reader", "\(RoundedTime(nanoseconds: sample.figures.oldestReaderNanoseconds))"))
    }
    if let durable = sample.durableVersion {
      let behind = statistics.version > durable ? statistics.version - durable : 0
      facts.append(("not on disk yet", behind == 0 ? "nothing" : "\(Quantity.number(behind)) commits"))
    }
    return facts
  }

  private static func holder(_ holder: Table.Holder) -> String {
    let time = holder.heldNanoseconds.map { ", \(RoundedTime(nanoseconds: $0))" } ?? ""
    return "\(holder.command.cut(40).html) (\(holder.pid)\(time))"
  }

  private var notes: String {
    var lines = sample.refusals
    if let trouble = sample.trouble { lines.append(trouble) }
    if let error = store?.error { lines.append("not stored: \(error)") }
    lines += stalledProcesses
    if lines.isEmpty { return "" }
    return "<ul class=\"problems\">" + lines.map { "<li>\($0.html)</li>" }.joined() + "</ul>\n"
  }

  /// A line a process: a snapshot has a slot beside its thread's.
  private var stalledProcesses: [String] {
    Dictionary(grouping: sample.figures.stalledReaders, by: \.holder.pid).sorted { $0.key < $1.key }.map {
      pid, readers in
      let age = RoundedTime(nanoseconds: readers.compactMap(\.inTheWayNanoseconds).max() ?? 0)
      let kept = Quantity.bytes(readers.reduce(0) { $0 + $1.keptBytes })
      return "stalled reader \(readers[0].holder.command) (\(pid)): for \(age), keeps \(kept)"
    }
  }

  // MARK: - Lists

  private var participants: String {
    let rows = sample.participants.prefix(8).map { each in
      "<tr><td>\(each.command.cut(40).html)</td><td>\(each.processes)</td><td>\(each.threads)</td>"
        + "<td>\(each.reading)</td><td>\(each.waiting)</td></tr>"
    }
    if rows.isEmpty { return "" }
    let more = sample.participants.count - rows.count
    let rest = more > 0 ? "<tr><td colspan=\"5\" class=\"dim\">and \(more) other commands</td></tr>" : ""
    return """
      <table><thead><tr><th>participants</th><th>processes</th><th>threads</th><th>reading</th><th>waiting</th></tr></thead>\
      <tbody>\(rows.joined())\(rest)</tbody></table>

      """
  }

  private var changes: String {
    if sample.changes.isEmpty { return "" }
    let rows = sample.changes.prefix(6).map { change in
      var kind = "set"
      if case .removed = change { kind = "removed" }
      let key = String.printable(change.key ?? []).cut(64).html
      return
        "<tr><td><code>\(key)</code></td><td>\(kind)</td><td>\(change.version.map { Quantity.number($0) } ?? "")</td></tr>"
    }
    return """
      <table class="changes"><thead><tr><th>recent changes</th><th></th><th>version</th></tr></thead>\
      <tbody>\(rows.joined())</tbody></table>

      """
  }
}
