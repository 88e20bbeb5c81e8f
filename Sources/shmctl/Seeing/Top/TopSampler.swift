import Glibc
import SharedMemory
import SharedTable
import TableMetrics

/// Looks at all tables again and again, and makes rates of what grew in between.
struct TopSampler {
  private let trusted: Table.TrustedOwners
  private var open: [String: Table] = [:]
  private var last: [String: Sample] = [:]

  private struct Sample {
    let probeID: UInt64
    let version: UInt64
    let waited: UInt64
    let at: ContinuousClock.Instant
  }

  init(trusting trusted: Table.TrustedOwners) { self.trusted = trusted }

  /// Fills in what is on the host now; order, filter and the like stay.
  mutating func sample(into state: inout TopState) throws {
    var (rows, stalled, processes): ([TopState.Row], [TopState.Stalled], [Int32: TableFigures.Process]) = ([], [], [:])
    state.others = 0
    var now: [String: Table] = [:]
    for name in try Table.names() {
      guard let table = table(name) else {
        state.others += 1
        continue
      }
      now[name] = table
      let figures = TableFigures(table)
      rows.append(row(figures))
      // Who takes part and who is in the way: in the tables that are shown.
      guard state.admits(name) else { continue }
      stalled += Self.stalled(figures)
      for process in figures.processes where process.pid != ProcessIdentity.pid {
        processes[process.pid, default: TableFigures.Process(pid: process.pid, command: process.command)].threads +=
          process.threads
      }
    }
    open = now
    last = last.filter { now[$0.key] != nil }
    state.rows = rows
    state.stalled = stalled
    state.commands = Dictionary(grouping: processes.values, by: \.command).map { name, all in
      TopState.Command(name: name, processes: all.count, threads: all.reduce(0) { $0 + $1.threads })
    }.sorted { $0.name < $1.name }
    state.time = Self.timeOfDay
  }

  /// The table of that name now; nil if there is none for us.
  private func table(_ name: String) -> Table? {
    if let table = open[name], table.administration.isNamed { return table }
    return try? Table.open(name, trusting: trusted, timeout: .zero)
  }

  private mutating func row(_ figures: TableFigures) -> TopState.Row {
    let statistics = figures.statistics
    let waited = statistics.barrierWaits?.byLogarithm.reduce(0, &+) ?? 0
    let sample = Sample(
      probeID: statistics.probeID, version: statistics.version, waited: waited, at: .now)
    var row = TopState.Row(name: figures.table, variant: "\(figures.variant)")
    if let before = last.updateValue(sample, forKey: figures.table), before.probeID == sample.probeID {
      row.commitsPerSecond = Rate.perSecond(from: before.version, to: sample.version, in: sample.at - before.at)
      row.waitsPerSecond = Rate.perSecond(from: before.waited, to: waited, in: sample.at - before.at)
    }
    row.keys = statistics.keyCount
    row.capacityBytes = statistics.capacityBytes
    row.fillPercent = statistics.usedBytes.map { min(100, $0 / max(1, statistics.capacityBytes / 100)) }
    row.processes = figures.isObserver ? nil : figures.processes.count { $0.pid != ProcessIdentity.pid }
    if statistics.isDamaged {
      (row.note, row.isAlarming) = ("DAMAGED", true)
    } else if statistics.needsRecovery {
      (row.note, row.isAlarming) = ("dead writer", true)
    } else if let writer = statistics.writer {
      row.note = "\(writer.command) \(writer.pid)" + (writer.heldNanoseconds.map { " \(Phrase.time($0))" } ?? "")
    } else if figures.isObserver {
      row.note = "observed"
    }
    return row
  }

  private static func stalled(_ figures: TableFigures) -> [TopState.Stalled] {
    let readers = figures.stalledReaders.map { reader in
      TopState.Stalled(
        table: figures.table, who: "\(reader.holder.command) \(reader.holder.pid)",
        what: Phrase.doing(reader, at: figures.statistics.version))
    }
    let stopped = Client.all(figures).filter { $0.isStopped && $0.threads.contains(where: \.isBusy) }.map { client in
      TopState.Stalled(
        table: figures.table, who: "\(client.command) \(client.pid)",
        what: "STOPPED: " + (client.threads.first(where: \.isBusy)?.doing ?? ""))
    }
    return stopped + readers
  }

  private static var timeOfDay: String {
    var now = time(nil)
    var parts = unsafe tm()
    guard unsafe localtime_r(&now, &parts) != nil else { return "" }
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return unsafe "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
  }
}
