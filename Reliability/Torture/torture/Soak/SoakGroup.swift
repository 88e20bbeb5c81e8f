import Glibc
import SharedMemory
import SharedTable
import TestSupport

extension Group {
  static let soak = Group(
    number: 12, title: "Soak",
    columns: [
      "Variant", "Minutes", "Rounds", "Kills", "Stops", "Barriers", "Refused", "Snapshot looks",
      "Claimed after round 1", "at the end", "Keeper's memory after round 1", "at the end",
    ],
    items: Table.Variant.allCases.map { variant in
      Item(
        "soak.\(variant)",
        "values whose sizes drift, expiry, snapshots, kills, and a keeper that gives memory back: all stays flat"
      ) { run in
        try Soak(variant, run).perform()
      }
    })
}

/// A long run in which nothing may pile up: neither in the table nor in the one process that lives all the time.
private final class Soak {
  private let variant: Table.Variant
  private let run: Run

  private static let capacityBytes = 32 << 20
  private static let roles = ["soak-writer", "soak-writer", "soak-writer", "soak-reader", "soak-reader"]

  init(_ variant: Table.Variant, _ run: Run) {
    self.variant = variant
    self.run = run
  }

  /// SOAK_MINUTES: how long the long form lasts for a variant.
  func perform() throws {
    let minutes = getenv("SOAK_MINUTES").flatMap { Int(String(cString: $0)) } ?? 60
    let halfRound = Double(run.bounded(6, long: 30))
    let rounds = run.bounded(2, long: max(2, minutes))
    try withTemporaryDirectory { directory in
      try withTableName { (name: String) throws -> Void in
        var options = Table.Options(variant: variant, capacityBytes: Self.capacityBytes, limboBudgetBytes: 2 << 20)
        options.poisonsFreedBlocks = true
        let table = try Table.create(name, options, timeout: .seconds(30))
        // The keeper lives through all of it, on a busy machine too.
        let crew = StormCrew(
          table, boardPath: "\(directory)/board", writers: Self.roles.count, run.generator,
          lifeSeconds: 300 + Int(Double(rounds) * 2 * halfRound) * 2)
        do {
          try soak(crew, rounds: rounds, halfRound: halfRound)
        } catch let error as Broken {
          crew.abandon()
          try run.expect(false, error.description)
        } catch {
          crew.abandon()
          throw error
        }
      }
    }
  }

  private func soak(_ crew: StormCrew, rounds: Int, halfRound: Double) throws {
    let table = crew.table
    try crew.start("soak-keeper", seat: StormCrew.untouchedSeat)
    for (seat, role) in Self.roles.enumerated() { try crew.start(role, seat: seat) }
    let keeper = crew.process(StormCrew.untouchedSeat).pid
    var first: Sample?
    for _ in 0..<rounds {
      try crew.storm(seconds: halfRound, from: 0, to: SoakContents.largest)
      try crew.storm(seconds: halfRound, from: SoakContents.largest, to: 0)
      if first == nil { first = try Sample(table, keeper) }
    }
    let last = try Sample(table, keeper)
    try crew.disband()
    try expectFlat(first!, last)
    try expectNothingIsKept(table)
    let board = crew.board
    run.row(
      "\(variant)", "\(Int(Double(rounds) * 2 * halfRound / 60))", "\(rounds)", "\(crew.kills)", "\(crew.stops)",
      "\(board.sum(.barriers))", "\(board.sum(.refusals))", "\(board.sum(.snapshots))", first!.claimed, last.claimed,
      first!.memory, last.memory)
  }

  private func expectFlat(_ first: Sample, _ last: Sample) throws {
    // Of the table: what a round needs at its largest stays claimed beside its own growth, no more.
    try run.expect(
      last.claimedBytes <= first.claimedBytes + first.claimedBytes / 4 + (4 << 20),
      "the table claims \(last.claimed) after the last round, \(first.claimed) after the first")
    try run.expect(
      last.privateBytes <= first.privateBytes + (8 << 20),
      "the keeper has \(last.memory) of its own, \(first.memory) after the first round")
    try run.expect(
      last.descriptors <= first.descriptors,
      "the keeper has \(last.descriptors) descriptors, \(first.descriptors) after the first round")
    try run.expect(
      last.mappings <= first.mappings + 16,
      "the keeper has \(last.mappings) mappings, \(first.mappings) after the first round")
  }

  /// Everybody is gone: what is deleted goes back to the system.
  private func expectNothingIsKept(_ table: Table) throws {
    _ = try table.administration.clearDeadReaders()
    try run.expect(try table.check() == [], "check at the end finds something")
    for number in 0..<SoakContents.keyCount { try table.remove(SoakContents.key(number)) }
    while try table.administration.maintain() != false { usleep(1000) }
    while try table.administration.shrink()?.isUnfinished != false { usleep(1000) }
    let statistics = table.statistics
    try run.expect(statistics.keyCount == 0, "\(statistics.keyCount) keys are left")
    try run.expect(
      statistics.claimedBytes <= Self.capacityBytes / 10 + (1 << 20),
      "an empty table claims \(statistics.claimedBytes) bytes")
  }
}

/// What the table and its keeper hold at one moment.
private struct Sample {
  let claimedBytes: Int
  let privateBytes: Int
  let descriptors: Int
  let mappings: Int

  var claimed: String { "\(claimedBytes >> 20) MiB" }
  var memory: String { "\(privateBytes >> 10) KiB" }

  init(_ table: Table, _ pid: pid_t) throws {
    claimedBytes = table.statistics.claimedBytes
    guard let line = ProcessFile.lines(of: "/proc/\(pid)/status").first(where: { $0.hasPrefix("RssAnon:") }),
      let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
    else { throw NotRun("the system does not say how much memory a process has of its own") }
    privateBytes = kibibytes << 10
    mappings = ProcessFile.lines(of: "/proc/\(pid)/maps").count
    descriptors = try Self.descriptorsAtRest(of: pid)
  }

  /// The fewest of many looks: while the keeper gives memory back it has one more, with which it locks observers out.
  private static func descriptorsAtRest(of pid: pid_t) throws -> Int {
    var fewest = Int.max
    for _ in 0..<100 {
      guard let directory = opendir("/proc/\(pid)/fd") else {
        throw Unavailable("cannot list the keeper's descriptors")
      }
      defer { closedir(directory) }
      var count = 0
      while readdir(directory) != nil { count += 1 }
      fewest = min(fewest, count)
      usleep(1000)
    }
    return fewest
  }
}
