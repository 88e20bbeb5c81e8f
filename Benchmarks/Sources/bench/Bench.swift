import ArgumentParser
import Glibc

/// A contest that is set up only when its turn comes: a million keys for each of ten peers take memory.
struct Event: Sendable {
  let name: String
  let make: @Sendable (Bench) throws -> Contest
}

let events: [Event] = [
  Event(name: "get-10k") {
    try getContest(keyCount: 10_000, order: .uniform, valueBytes: 100, name: "get-10k", peers: $0.peers)
  },
  Event(name: "get-1m") {
    try getContest(keyCount: 1_000_000, order: .uniform, valueBytes: 100, name: "get-1m", peers: $0.peers)
  },
  Event(name: "get-misses") {
    try getContest(keyCount: 1_000_000, order: .tenthMissing, valueBytes: 100, name: "get-misses", peers: $0.peers)
  },
  Event(name: "get-zipf") {
    try getContest(keyCount: 1_000_000, order: .zipf, valueBytes: 100, name: "get-zipf", peers: $0.peers)
  },
  Event(name: "get-8-bytes") {
    try getContest(keyCount: 1_000_000, order: .uniform, valueBytes: 8, name: "get-8-bytes", peers: $0.peers)
  },
  Event(name: "get-1-kib") {
    try getContest(keyCount: 100_000, order: .uniform, valueBytes: 1024, name: "get-1-kib", peers: $0.peers)
  },
  Event(name: "get-10k-writer") { _ in try getUnderWriterContest(keyCount: 10_000, name: "get-10k-writer") },
  Event(name: "get-1m-writer") { _ in try getUnderWriterContest(keyCount: 1_000_000, name: "get-1m-writer") },
  Event(name: "set-10k") { try setContest(keyCount: 10_000, name: "set-10k", peers: $0.peers) },
  Event(name: "set-1m") { try setContest(keyCount: 1_000_000, name: "set-1m", peers: $0.peers) },
  Event(name: "mix-100-1") { _ in try mixContest(readsPerWrite: 100) },
  Event(name: "mix-10-1") { _ in try mixContest(readsPerWrite: 10) },
  Event(name: "mix-1-1") { _ in try mixContest(readsPerWrite: 1) },
  Event(name: "types") { _ in try typeContest() },
  Event(name: "coded-values") { _ in try codedValuesContest() },
  Event(name: "layer-reads") { _ in try layerReadsContest() },
  Event(name: "layer-writes") { _ in try layerWritesContest() },
  Event(name: "layers-1m") { _ in try layersBesideManyContest() },
  Event(name: "delete-and-scan") { _ in try deleteAndScanContest(keyCount: 100_000) },
  Event(name: "growth") { bench in
    try growthContest(keyCounts: bench.large ? [100_000, 1_000_000, 10_000_000] : [100_000, 1_000_000])
  },
  Event(name: "memory") { try memoryContest(keyCount: 1_000_000, peers: $0.peers) },
  Event(name: "recovery") { _ in try recoveryContest() },
  Event(name: "wake-up") { _ in try wakeUpContest() },
  Event(name: "actor-call") { _ in try actorCallContest() },
  Event(name: "barrier-burst") { _ in try barrierBurstContest() },
  Event(name: "updates") { _ in try updatesContest() },
  Event(name: "processes") { _ in try processContests() },
  Event(name: "command") { try commandContest(shmctl: $0.shmctl) },
]

@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "SharedTable beside its peers: the same work in one run, in turns.")

  @Option(help: "Rounds of each contestant.") var rounds = 31
  @Option(help: "The release build of shmctl.") var shmctl = "shmctl"
  @Option(help: "What must hold.") var bars = "bars.txt"
  @Option(help: ArgumentHelp("Write results.md and the plots there.", valueName: "directory")) var output: String?
  @Option(help: ArgumentHelp("Measure nothing; draw the plots of that page anew, beside it.", valueName: "results.md"))
  var redraw: String?
  @Option(help: ArgumentHelp("Date and machine, for the page.", valueName: "text")) var on = "an unnamed machine"
  @Flag(inversion: .prefixedNo, help: "Redis and memcached too.") var peers = true
  @Flag(help: "Growth to 10 million keys as well.") var large = false
  @Flag(help: "Fail if what the bars' file says is held is not, after three repetitions.") var check = false
  @Argument(help: "Contests; none: all.") var names: [String] = []

  static func main() {
    let arguments = CommandLine.arguments
    if arguments.count > 2, arguments[1] == "worker" {
      do { try serveAsWorker(Array(arguments.dropFirst(2))) } catch {
        say("bench worker: \(error)")
        Glibc.exit(1)
      }
      Glibc.exit(0)
    }
    main(nil)
  }

  func run() throws {
    if let redraw { return try drawPlots(of: redraw) }
    for name in names where !events.contains(where: { $0.name == name }) {
      throw ValidationError("there is no contest \(name); there are \(events.map(\.name).joined(separator: ", "))")
    }
    let bars = try Bar.read(bars)
    var report = Report()
    var missed: [String] = []
    if let output, mkdir(output, 0o777) != 0, errno != EEXIST {
      throw Failure("cannot make \(output): \(String(cString: strerror(errno)))")
    }
    for event in events where names.isEmpty || names.contains(event.name) {
      say(event.name)
      missed += try perform(event, bars, &report)
      // After each: what was measured is there even if a later peer fails.
      if let output {
        try writeFile("\(output)/results.md", page(report))
        try drawPlots(of: "\(output)/results.md")
      }
    }
    print(page(report))
    if check, !missed.isEmpty {
      for line in missed { print("missed: \(line)") }
      throw ExitCode(1)
    }
  }

  private func page(_ report: Report) -> String {
    """
    # The last run

    Run of \(on). Medians of \(rounds) rounds, all contestants in turns. A turn takes the keys after those of the turn \
    before it.


    """ + report.markdown
  }

  /// - Returns: what is not held, in words.
  private func perform(_ event: Event, _ bars: [Bar], _ report: inout Report) throws -> [String] {
    let contest = try event.make(self)
    var results = try contest.run(rounds: rounds)
    let own = bars.filter { $0.contest == contest.name }
    func missed() -> [Bar] { own.filter { bar in bar.measure(results).map { !bar.isHeld(by: $0) } ?? false } }
    // A row that fails is repeated, so that a moment of noise does not fail a build.
    for _ in 0..<3 where check && !missed().isEmpty { results = try contest.run(rounds: rounds) }
    report.add(contest, results, bars)
    return missed().map { bar in
      "\(bar.contest): \(bar.named) is \(shown(bar.measure(results)!)), must be \(bar.described(bar.held))"
    }
  }

  /// Beside `results`.
  private func drawPlots(of results: String) throws {
    let directory = results.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    for (contest, plot) in Plot.all(on: try lines(of: results)) {
      try writeFile("\(directory.isEmpty ? "." : directory)/\(contest).svg", plot.svg)
    }
  }
}
