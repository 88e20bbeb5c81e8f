import SharedTable
import TableMetrics
import ToolSupport

/// A table's figures for people.
struct StatReport {
  let table: Table
  let statistics: Table.Statistics
  /// Commits a second since the last look.
  var rate: UInt64?

  /// A term with what is said of it: mostly a line, sometimes several.
  typealias Row = (term: StatTerm, values: [String])

  init(_ table: Table, _ statistics: Table.Statistics, rate: UInt64? = nil) {
    self.table = table
    self.statistics = statistics
    self.rate = rate
  }

  func text(explaining: Bool = false) -> [UInt8] { Self.text(rows, explaining: explaining) }

  var rows: [Row] {
    var rows: [Row] = [
      (.table, [table.name]),
      (.variant, ["\(table.variant)"]),
      (.access, [table.isObserver ? "observer" : "participant"]),
      (.probeID, ["\(statistics.probeID)"]),
      (.version, ["\(statistics.version)"]),
      (.keys, ["\(statistics.keyCount)"]),
      (.capacity, [Phrase.exactSize(statistics.capacityBytes)]),
      (.allocated, [Phrase.exactSize(statistics.claimedBytes)]),
    ]
    if !table.isObserver { rows += participantRows }
    rows.append((.observers, [statistics.observers.map { "\($0)" } ?? "?"]))
    if table.isMirror { rows.append((.upstream, [upstream.phrase])) }
    if let rate { rows.append((.rate, ["\(rate) commits/s"])) }
    return rows
  }

  /// What the table says of itself as a mirror; nothing if it says something that is none.
  var upstream: UpstreamReport { UpstreamReport((try? table.upstream.status()) ?? nil) }

  private var participantRows: [Row] {
    [
      (.hugePages, [Phrase.exactSize(statistics.hugeBytes)]),
      (.used, [Phrase.exactSize(statistics.usedBytes)]),
      (.free, [free]),
      (.limbo, ["\(Phrase.exactSize(statistics.limboBytes)) of \(Phrase.exactSize(statistics.limboBudgetBytes))"]),
      (.recoveries, [statistics.recoveries.map { "\($0)" } ?? "?"]),
      (.evictions, [statistics.evictions.map { "\($0)" } ?? "?"]),
      (.damaged, [statistics.isDamaged ? "yes" : "no"]),
      (.writer, [writer]),
      (.waits, ["\(statistics.barrierWaits.map { "\($0.none) barriers without" } ?? "?")"] + waits),
      (
        .readers,
        ["\(statistics.readers.count)"]
          + statistics.readers.map { "\(Phrase.who($0.holder)): \(Phrase.doing($0, at: statistics.version))" }
      ),
    ]
  }

  private var writer: String {
    if let writer = statistics.writer { return Phrase.who(writer) }
    return statistics.needsRecovery ? "died in a barrier: the next write puts its work right" : "none"
  }

  private var free: String {
    guard let memory = statistics.memory else { return "?" }
    return
      "unclaimed \(Phrase.size(memory.unclaimed)), superframes \(Phrase.size(memory.freeSuperframes)), "
      + "frames \(Phrase.size(memory.freeFrames)), slabs \(Phrase.size(memory.freeInSlabs))"
  }

  private var waits: [String] {
    statistics.waits.map { "\($0.count) of \(Phrase.time($0.from)) to \(Phrase.time($0.to))" }
  }

  /// Of a name that somebody has whom the user does not trust: nothing is read of what lies there.
  static func text(foreign name: String, _ owner: Table.Owner?) -> [UInt8] {
    let lines = [("table", name), ("foreign", "yes"), ("owner", owner.map { "\($0)" } ?? "?")].map { line($0, $1) }
    return Array(lines.joined().utf8)
  }

  private static func text(_ rows: [Row], explaining: Bool) -> [UInt8] {
    var text = ""
    for row in rows {
      for (index, value) in row.values.enumerated() { text += line(index == 0 ? row.term.rawValue : "", value) }
      if explaining { text += line("", "  " + row.term.explanation) }
    }
    return Array(text.utf8)
  }

  private static func line(_ name: String, _ value: String) -> String {
    StandardError.printable(name + String(repeating: " ", count: 12 - name.count) + value) + "\n"
  }
}

extension Table.Statistics {
  /// How many barriers waited how long, in nanoseconds.
  var waits: [(from: UInt64, to: UInt64, count: UInt64)] {
    (barrierWaits?.byLogarithm ?? []).enumerated().compactMap { index, count in
      count == 0 ? nil : (1 << UInt64(index), 2 << UInt64(index), count)
    }
  }
}
