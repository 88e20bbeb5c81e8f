import ArgumentParser
import Glibc
import SharedTable
import ToolSupport

struct Top: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Show live what happens in all tables: commits, waits, who takes part, who is in the way.",
    discussion: """
      A row a table: commits and waits a second (a wait: a barrier that found another before it), keys, how much of the \
      capacity is in use, processes that take part, and who runs a barrier at this moment. Below, participants by command \
      and readers or stopped processes that are in the way. Reads are not counted: they leave no trace in a table.

      Keys: q quits, s sorts by the next column, r reverses, / filters by name, p pauses, j and k scroll. Without colour \
      if NO_COLOR is set. --batch prints so many frames instead, for files and pipes; with --json an object a table.
      """)

  @OptionGroup var options: CommonOptions

  @Option(name: .shortAndLong, help: ArgumentHelp("Between two looks: 1, 500ms.", valueName: "time"))
  var interval = TimeSpan(milliseconds: 1000)

  @Option(help: ArgumentHelp("Print so many frames, and end.", valueName: "count"))
  var batch: Int?

  @Option(help: ArgumentHelp("Sort by this.", valueName: "commits|waits|fill|keys|name"))
  var sort = TopState.Order.commits

  @Option(help: ArgumentHelp("Only tables whose name contains this.", valueName: "text"))
  var filter = ""

  func validate() throws {
    try options.refuseTable(for: "top")
    if interval.milliseconds < 10 || interval.milliseconds > 86_400_000 {
      throw ValidationError("--interval takes 10ms to 1d")
    }
    if let batch, batch < 1 { throw ValidationError("--batch takes 1 or more") }
    if options.json, batch == nil { throw ValidationError("--json goes with --batch") }
  }

  func run() throws {
    var state = TopState()
    state.order = sort
    state.filter = filter
    var sampler = TopSampler(trusting: try options.trustedOwners())
    if let batch {
      try print(batch, &state, &sampler)
    } else {
      try show(&state, &sampler)
    }
  }

  // MARK: - Live

  private func show(_ state: inout TopState, _ sampler: inout TopSampler) throws {
    let terminal = try Terminal()
    defer { withExtendedLifetime(terminal) {} }
    var next = ContinuousClock.now
    while true {
      if ContinuousClock.now >= next {
        if !state.isPaused { try sampler.sample(into: &state) }
        next = .now + interval.duration
      }
      let size = terminal.size
      try terminal.draw(TopFrame.lines(state, width: size.width, height: size.height), isStyled: Styling.isWanted)
      let rest = next - .now
      let (seconds, attoseconds) = rest.components
      let milliseconds = max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
      switch terminal.event(within: Int32(clamping: milliseconds)) {
      case .key(let key): guard state.press(key) else { return }
      case .end(let number): terminal.end(by: number)
      case .resized, .time: break
      }
    }
  }

  // MARK: - Into a pipe

  private func print(_ count: Int, _ state: inout TopState, _ sampler: inout TopSampler) throws {
    // Rates need two looks.
    try sampler.sample(into: &state)
    for frame in 0..<count {
      Pause.sleep(interval.duration)
      try sampler.sample(into: &state)
      if options.json {
        try StandardOutput.write(state.shown.flatMap { Self.describe($0).line })
        continue
      }
      var lines = TopFrame.lines(state, width: columns, height: state.shown.count + 40).map(\.text)
      // Neither the keys nor the room that a screen has.
      lines.removeLast()
      lines = lines.filter { !$0.isEmpty }.map { line in
        String(line.reversed().drop { $0 == " " }.reversed())
      }
      try StandardOutput.write(Array(((frame > 0 ? [""] : []) + lines).map { $0 + "\n" }.joined().utf8))
    }
  }

  /// $COLUMNS, as shells set it; 80 else.
  private var columns: Int {
    guard let text = unsafe getenv("COLUMNS"), let columns = Int(unsafe String(cString: text)), columns >= 40 else {
      return 80
    }
    return min(columns, 1000)
  }

  private static func describe(_ row: TopState.Row) -> JSONObject {
    var object = JSONObject()
    object.add("table", row.name)
    object.add("variant", row.variant)
    object.add("commitsPerSecond", row.commitsPerSecond)
    object.add("waitsPerSecond", row.waitsPerSecond)
    object.add("keys", row.keys)
    if let fill = row.fillPercent { object.add("fillPercent", fill) }
    object.add("capacityBytes", row.capacityBytes)
    if let processes = row.processes { object.add("processes", processes) }
    return object
  }
}

extension TopState.Order: ExpressibleByArgument {}
