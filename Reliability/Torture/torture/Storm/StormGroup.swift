import Glibc
import SharedMemory
import SharedTable
import TestSupport

extension Group {
  static let storm = Group(
    number: 5, title: "Storm",
    columns: [
      "Variant", "Phase", "Seconds", "Processes", "Kills", "Stops", "Forks", "Sections checked", "Snapshot looks",
      "Barriers", "Repairs", "Untouched reader: reads/s", "per CPU-second",
    ],
    items: Table.Variant.allCases.map { variant in
      Item("storm.\(variant)", "readers, writers, observers, forkers and a daemon, killed and stopped at random") {
        run in
        try Storm(variant, run, capacityBytes: 64 << 20).perform()
      }
    }
      + Table.Variant.allCases.map { variant in
        Item("storm.crowded-\(variant)", "the same in a table that is always full: entries are moved to make room") {
          run in
          try Storm(variant, run, capacityBytes: crowdedBytes).perform()
        }
      })

  /// A third of what the writers would like to store.
  private static let crowdedBytes = 8 << 20
}

/// One variant's storm: the phases that show one reader's progress one by one, then everything at once.
private final class Storm {
  private let variant: Table.Variant
  private let run: Run
  private let capacityBytes: Int
  private var generator: SplitMix
  private var figures: [Figure] = []

  /// Places: writers, the forker (which writes too), readers, observers, the daemon.
  private static let writers = 3
  private static let roles =
    Array(repeating: "storm-writer", count: writers) + ["storm-forker"]
    + Array(repeating: "storm-reader", count: 3) + ["storm-observer", "storm-observer", "storm-daemon"]
  private static let threadsAPlace = 2

  init(_ variant: Table.Variant, _ run: Run, capacityBytes: Int) {
    self.variant = variant
    self.run = run
    self.capacityBytes = capacityBytes
    generator = run.generator
  }

  /// STORM_MINUTES: how long the long form storms a variant.
  func perform() throws {
    let minutes = getenv("STORM_MINUTES").flatMap { Int(String(cString: $0)) } ?? 30
    let rounds = run.bounded(1, long: minutes)
    for round in 0..<rounds {
      do {
        try self.round(isFirst: round == 0, isLast: round == rounds - 1)
      } catch let error as Broken {
        try run.expect(false, error.description)
        break
      }
    }
    for figure in figures {
      // Else nobody died in a barrier, and the phase has shown nothing of it.
      if ["storm", "writers are killed"].contains(figure.name) {
        try run.expect(
          figure.kills > 0 && figure.recoveries > 0,
          "\(figure.name): \(figure.kills) kills, \(figure.recoveries) recoveries")
      }
      figure.write(to: run, variant)
    }
  }

  /// A table of its own: it is small at first, and grows.
  private func round(isFirst: Bool, isLast: Bool) throws {
    try withTemporaryDirectory { directory in
      try withTableName { (name: String) throws -> Void in
        var options = Table.Options(variant: variant, capacityBytes: capacityBytes, limboBudgetBytes: 2 << 20)
        options.poisonsFreedBlocks = true
        let table = try Table.create(name, options, timeout: .seconds(30))
        try StormContents.fill(table, seats: StormCrew.seats)
        let crew = StormCrew(
          table, boardPath: "\(directory)/board", writers: Self.writers + 1, generator)
        defer { generator = crew.generator }
        do {
          try weather(crew, isFirst: isFirst, isLast: isLast)
          try aftermath(crew)
        } catch {
          crew.abandon()
          throw error
        }
      }
    }
  }

  private func weather(_ crew: StormCrew, isFirst: Bool, isLast: Bool) throws {
    crew.board[.ceiling] = 1000
    try crew.start("storm-untouched", seat: StormCrew.untouchedSeat)
    let breath = Double(run.bounded(2, long: 10))
    if isFirst {
      try phase("quiet before", crew) { try wait(breath, crew) }
      if variant == .rcu { try deadWriters(crew, breath) }
    }
    try phase("storm", crew) {
      for (seat, role) in Self.roles.enumerated() { try crew.start(role, seat: seat) }
      // A pause, with a check of everything, every few seconds.
      let parts = 6
      let length = Double(run.bounded(24, long: 55))
      for part in 0..<parts {
        let ceilings = (0...1).map { 1000 + Double(part + $0) / Double(parts) * 60_000 }
        try crew.storm(seconds: length / Double(parts), from: ceilings[0], to: ceilings[1])
      }
    }
    try crew.dismissAll(Self.roles.indices)
    if isLast { try phase("quiet after", crew) { try wait(breath, crew) } }
  }

  /// What a running, a stopped and dying writers are to a reader, each by itself (G5).
  private func deadWriters(_ crew: StormCrew, _ breath: Double) throws {
    try phase("one writer runs", crew) {
      try crew.start("storm-writer", seat: 0)
      try wait(breath, crew)
      try crew.dismiss(0)
    }
    try crew.start("storm-holder", seat: 0)
    try crew.process(0).expectLine("in")
    crew.stop(seat: 0)
    try phase("a writer is stopped in its barrier", crew) { try wait(breath, crew) }
    try crew.dismiss(0)
    try phase("writers are killed", crew) {
      let end = HostClock.monotonicNanoseconds + UInt64(breath * 1.5e9)
      while HostClock.monotonicNanoseconds < end {
        try crew.start("storm-writer", seat: 0)
        try wait(0.005 + Double(crew.generator.below(40)) / 1000, crew)
        _ = crew.ambush()
        try crew.dismiss(0)
      }
    }
  }

  private func wait(_ seconds: Double, _ crew: StormCrew) throws {
    let end = HostClock.monotonicNanoseconds + UInt64(seconds * 1e9)
    while HostClock.monotonicNanoseconds < end {
      usleep(1000)
      try crew.lookAround()
    }
  }

  private func phase(_ name: String, _ crew: StormCrew, _ body: () throws -> Void) throws {
    let before = Figure(name, crew)
    try body()
    let figure = Figure(name, crew) - before
    if figure.reads == 0 { throw Broken("\(name): the untouched reader did nothing (G5)") }
    if let known = figures.firstIndex(where: { $0.name == name }) {
      figures[known] = figures[known] + figure
    } else {
      figures.append(figure)
    }
  }

  // MARK: - Afterwards

  /// Everybody is gone: nothing is lost, and nothing is kept.
  private func aftermath(_ crew: StormCrew) throws {
    let (table, board) = (crew.table, crew.board)
    try crew.disband()
    _ = try table.administration.clearDeadReaders()
    // Nil: a child that a killed parent left is in its barrier.
    while try table.administration.maintain() != false { usleep(1000) }
    let problems = try table.check()
    if !problems.isEmpty { throw Broken("check at the end: \(problems.prefix(3).joined(separator: "; "))") }
    let statistics = table.statistics
    let limbo = statistics.limboBytes ?? 0
    if limbo > 64 << 10 { throw Broken("\(limbo) bytes are kept for readers that are gone (G6)") }
    for reader in statistics.readers where reader.holder.pid != getpid() {
      throw Broken("the slot of \(reader.holder.pid) is held, though everybody is gone (G6)")
    }
    try table.read { view in
      try StormLooker.checkBank(view)
      for group in StormContents.groups { try StormLooker.checkGroup(view, group) }
      for seat in 0...Self.writers {
        let tally = try view.get(StormContents.tally(seat), as: Int.self) ?? 0
        let (done, began) = (Int(board.count(seat, .done)), Int(board.count(seat, .began)))
        if tally < done || tally > began {
          throw Broken("place \(seat): \(done) barriers returned, \(began) began, \(tally) are there (G2)")
        }
        if began - done > (crew.kills + 1) * Self.threadsAPlace {
          throw Broken("place \(seat): \(began - done) barriers are unaccounted for, after \(crew.kills) kills")
        }
      }
    }
  }
}

/// What a phase came to.
private struct Figure {
  let name: String
  var nanoseconds: UInt64
  var processes: UInt64
  var started, kills, stops: UInt64
  var forks, sections, snapshots, barriers: UInt64
  /// Dead writers' barriers that somebody undid or finished.
  var recoveries: UInt64
  var reads, processorTime: UInt64

  init(_ name: String, _ crew: StormCrew) {
    self.name = name
    let board = crew.board
    nanoseconds = HostClock.monotonicNanoseconds
    processes = UInt64(crew.processes)
    (started, kills, stops) = (UInt64(crew.started), UInt64(crew.kills), UInt64(crew.stops))
    (forks, sections, snapshots, barriers) = (
      board.sum(.forks), board.sum(.sections), board.sum(.snapshots), board.sum(.barriers)
    )
    recoveries = crew.table.administration.recoveryCount ?? 0
    reads = board.count(StormCrew.untouchedSeat, .reads)
    processorTime = board.count(StormCrew.untouchedSeat, .processorTime)
  }

  private func combined(_ other: Figure, _ apply: (UInt64, UInt64) -> UInt64) -> Figure {
    var result = self
    for path in Self.sums { result[keyPath: path] = apply(self[keyPath: path], other[keyPath: path]) }
    return result
  }

  private static let sums: [WritableKeyPath<Figure, UInt64> & Sendable] = [
    \.nanoseconds, \.started, \.kills, \.stops, \.forks, \.sections, \.snapshots, \.barriers, \.recoveries, \.reads,
    \.processorTime,
  ]

  /// What came between; the processes are those of its end, and those that died on the way.
  static func - (after: Figure, before: Figure) -> Figure { after.combined(before, &-) }
  static func + (one: Figure, other: Figure) -> Figure { one.combined(other, &+) }

  func write(to run: Run, _ variant: Table.Variant) {
    let seconds = Double(nanoseconds) / 1e9
    let perSecond = Int(Double(reads) / seconds)
    let perProcessorSecond = Int(Double(reads) / max(Double(processorTime) / 1e9, 1e-9))
    run.row(
      "\(variant)", name, "\(Int(seconds.rounded()))", "\(max(processes, started + 1))", "\(kills)", "\(stops)",
      "\(forks)", "\(sections)", "\(snapshots)", "\(barriers)", "\(recoveries)", "\(perSecond)", "\(perProcessorSecond)"
    )
  }
}
