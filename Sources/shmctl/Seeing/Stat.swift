import ArgumentParser
import SharedTable
import TableMetrics
import ToolSupport

struct Stat: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stat", abstract: "Print figures about a table and who uses it.",
    discussion: """
      Figures are read one by one while the table lives on. Keys count those expired that nobody removed yet. An \
      observer, who may only read the table, sees fewer of them. Of a table whose owner you do not trust (--trust) it \
      says only whose it is.

      --explain says below each figure what it means. --prometheus prints the text format that a Prometheus server or \
      node_exporter's textfile collector reads. --watch looks again until it is interrupted, or the table is removed.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Say below each figure what it means.")
  var explain = false

  @Flag(help: "Print Prometheus' text format.")
  var prometheus = false

  @Option(help: ArgumentHelp("Look again after so long, and so on: 1, 500ms.", valueName: "time"))
  var watch: TimeSpan?

  func validate() throws {
    if [explain, prometheus, options.json].count(where: { $0 }) > 1 {
      throw ValidationError("--explain, --prometheus and --json exclude each other")
    }
    if let watch, watch.milliseconds <= 0 { throw ValidationError("--watch takes more than no time") }
    if prometheus, watch != nil { throw ValidationError("--prometheus says everything once; leave --watch out") }
  }

  func run() throws {
    let table: Table
    do {
      table = try options.open()
    } catch let error as TableError where error.code == .foreign {
      guard !prometheus else { throw error }
      let (name, owner) = (options.tableName, error.owner)
      return try StandardOutput.write(
        options.json ? StatReport.json(foreign: name, owner) : StatReport.text(foreign: name, owner))
    }
    try run(on: table)
  }

  func run(on table: Table) throws {
    if prometheus { return try StandardOutput.write(Array(PrometheusText.of([TableFigures(table)]).utf8)) }
    guard let watch else { return try write(StatReport(table, table.statistics), isFirst: true) }
    var last: (version: UInt64, at: ContinuousClock.Instant)?
    while true {
      try table.checkName()
      let statistics = table.statistics
      let now = ContinuousClock.now
      let rate = last.map { Rate.perSecond(from: $0.version, to: statistics.version, in: now - $0.at) }
      try write(StatReport(table, statistics, rate: rate), isFirst: last == nil)
      last = (statistics.version, now)
      Pause.sleep(watch.duration)
    }
  }

  private func write(_ report: StatReport, isFirst: Bool) throws {
    if options.json { return try StandardOutput.write(report.json) }
    var bytes = report.text(explaining: explain)
    if watch != nil, StandardOutput.isTerminal {
      // To the upper left corner, and erase what was there: ECMA-48. Nothing of it outlasts the command.
      bytes = Array("\u{1b}[H\u{1b}[J".utf8) + bytes
    } else if !isFirst {
      bytes = [UInt8(ascii: "\n")] + bytes
    }
    try StandardOutput.write(bytes)
  }
}
