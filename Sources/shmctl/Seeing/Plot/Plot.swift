import ArgumentParser
import Glibc
import SharedTable
import ToolSupport

struct Plot: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plot", abstract: "Draw how full a table is over time, or how long its gets take.",
    discussion: """
      fill looks at the table again and again (--over, --every) and draws the share of the capacity that is in use. latency \
      reads keys that are there, in random order, and draws how many gets took how long; it changes nothing, and the time \
      of the clock itself is taken off. Drawn in the terminal's size, or $COLUMNS × 24 in a pipe; with --svg as a file.
      """)

  enum Subject: String, ExpressibleByArgument, CaseIterable {
    case fill, latency
  }

  @OptionGroup var options: CommonOptions

  @Argument(help: ArgumentHelp("What to draw.", valueName: "fill|latency"))
  var subject: Subject

  @Option(help: ArgumentHelp("For how long to look.", valueName: "time"))
  var over = TimeSpan(milliseconds: 5000)

  @Option(help: ArgumentHelp("Between two looks at the fill; a hundredth of --over if not given.", valueName: "time"))
  var every: TimeSpan?

  @Option(help: ArgumentHelp("Write an SVG file instead of drawing here.", valueName: "file"))
  var svg: RawArgument?

  func validate() throws {
    guard (100...86_400_000).contains(over.milliseconds) else { throw ValidationError("--over takes 100ms to 1d") }
    if let every, every.milliseconds < 1 || every.milliseconds > over.milliseconds {
      throw ValidationError("--every takes at least 1ms, and no more than --over")
    }
    if subject == .latency, every != nil {
      throw ValidationError("--every is for 'plot fill'; latency reads all the time")
    }
    if options.json { throw ValidationError("plot draws; for figures see 'stat --watch --json' and 'bench --json'") }
  }

  func run(on table: Table) throws {
    // Before the look, which may last a day.
    let file = try svg.flatMap { $0.isStandardInput ? nil : try OutputFile($0) }
    let (lines, picture): ([String], String)
    let size = Self.size
    switch subject {
    case .fill:
      let chart = try fill(table)
      (lines, picture) = (chart.text(width: size.width, height: size.height), chart.svg)
    case .latency:
      let chart = try latency(table)
      (lines, picture) = (chart.text(width: size.width, height: size.height), chart.svg)
    }
    if let svg { return try Self.write(picture, to: file, of: svg) }
    try StandardOutput.write(Array(lines.map { $0 + "\n" }.joined().utf8))
  }

  private func fill(_ table: Table) throws -> FillChart {
    let pause = every?.duration ?? .milliseconds(max(1, over.milliseconds / 100))
    let start = ContinuousClock.now
    var percent: [Double] = []
    while true {
      try table.checkName()
      let statistics = table.statistics
      // An observer sees what was claimed.
      let used = statistics.usedBytes ?? statistics.claimedBytes
      percent.append(min(100, 100 * Double(used) / Double(max(1, statistics.capacityBytes))))
      if ContinuousClock.now - start >= over.duration { break }
      Pause.sleep(pause)
    }
    return FillChart(
      title:
        "table '\(table.name)': capacity in \(table.isObserver ? "claim" : "use"), of \(Phrase.size(table.capacityBytes))",
      percent: percent, seconds: Double(over.milliseconds) / 1000)
  }

  /// At most so many keys are read, over and over.
  private static let keyLimit = 10_000

  private func latency(_ table: Table) throws -> LatencyChart {
    var keys: [[UInt8]] = []
    try table.read { view in
      try view.forEachKey(atMost: Self.keyLimit) { key in
        keys.append(unsafe key.withUnsafeBytes { unsafe [UInt8]($0) })
        return true
      }
    }
    guard !keys.isEmpty else {
      throw Complaint(
        .notFound, table: table.name, "it has no keys to read; 'shmctl bench' measures with keys of its own")
    }
    let sample = try BenchRun.gets(table, keys, milliseconds: UInt64(over.milliseconds))
    return LatencyChart(title: "table '\(table.name)': get, of \(keys.count) keys", sample: sample)
  }

  /// The terminal's; in a pipe $COLUMNS or 80, by 24.
  private static var size: (width: Int, height: Int) {
    if StandardOutput.isTerminal {
      // A line for the prompt, which comes next.
      let size = TerminalSize.of(1)
      return (size.width, size.height - 1)
    }
    let columns = unsafe getenv("COLUMNS").flatMap { Int(unsafe String(cString: $0)) } ?? 80
    return (min(1000, max(20, columns)), 24)
  }

  private static func write(_ text: String, to file: OutputFile?, of path: RawArgument) throws {
    guard let file else { return try StandardOutput.write(Array(text.utf8)) }
    try Descriptor.writeAll(file.descriptor, text.utf8, "'\(path.shown)'")
    try file.finish()
  }
}
