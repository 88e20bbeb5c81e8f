import Glibc
import History
import SharedMemory
import SharedTable
import TestSupport

extension Group {
  static let history = Group(
    number: 6, title: "Linearizability",
    columns: ["Variant", "Histories", "Processes", "Operations", "Kills", "Pending", "Keys", "Versions", "Result"],
    items: Table.Variant.allCases.map { variant in
      Item("history.\(variant)", "what processes did until they were killed, against one order of all of it") { run in
        var item = HistoryItem(variant, run)
        try item.perform()
      }
    })
}

/// Several histories, each of a table of its own: the search's work grows with what kills leave pending.
private struct HistoryItem {
  private let variant: Table.Variant
  private let run: Run
  private var generator: SplitMix
  private var operations = 0
  private var pending = 0
  private var processes = 0
  private var versions: UInt64 = 0
  private var keys = 0
  private let kills: Int

  init(_ variant: Table.Variant, _ run: Run) {
    self.variant = variant
    self.run = run
    generator = run.generator
    kills = run.bounded(40, long: 60)
  }

  mutating func perform() throws {
    let histories = run.bounded(8, long: 400)
    var problems = 0
    for _ in 0..<histories {
      let found = try record()
      problems += found.count
      for problem in found.prefix(5) { try run.expect(false, problem) }
    }
    run.row(
      "\(variant)", "\(histories)", "\(processes)", "\(operations)", "\(histories * kills)", "\(pending)", "\(keys)",
      "\(versions)", problems == 0 ? "linearizable" : "\(problems) problems")
  }

  /// One history, and what is wrong with it.
  private mutating func record() throws -> [String] {
    try withTemporaryDirectory { directory in
      try withTableName { (name: String) throws -> [String] in
        // Little memory: what is free is used again soon.
        var options = Table.Options(variant: variant, capacityBytes: 8 << 20)
        options.poisonsFreedBlocks = true
        let table = try Table.create(name, options, timeout: .seconds(30))
        var fleet = HistoryFleet(table, directory, generator)
        try fleet.launch()
        try fleet.kill(kills)
        try fleet.finish()
        generator = fleet.generator
        var history = fleet.operations
        history.append(try final(table))
        let checked = History(history)
        operations += history.count
        pending += checked.pendingCount
        keys = max(keys, checked.keyCount)
        processes += fleet.count
        versions += table.version
        return try table.check() + checked.problems()
      }
    }
  }

  /// What is there at the end, as one more section.
  private func final(_ table: Table) throws -> Operation {
    let begin = HostClock.monotonicNanoseconds
    return try table.read { view in
      var accesses: [Operation.Access] = []
      for key in 0..<HistoryWorker.keys {
        let entry = try view.entry(forKey: HistoryWorker.name(key))
        let value = try HistoryWorker.value(entry?.bytes, key)
        accesses.append(.init(key: key, .equals(value), version: entry?.version))
      }
      return .init(
        process: -1, .section, begin: begin, end: HostClock.monotonicNanoseconds, version: view.version, accesses)
    }
  }
}

/// The processes of one history. One that is killed is followed by a new one, with a log of its own.
private struct HistoryFleet {
  private let table: Table
  private let directory: String
  var generator: SplitMix
  private var running: [(process: WorkerProcess, number: Int)] = []
  private var logs: [HistoryLog] = []
  private static let participants = 4
  private static let observers = 1

  init(_ table: Table, _ directory: String, _ generator: SplitMix) {
    self.table = table
    self.directory = directory
    self.generator = generator
  }

  var count: Int { logs.count }

  var operations: [Operation] {
    logs.enumerated().flatMap { number, log in log.operations(process: number) }
  }

  mutating func launch() throws {
    for _ in 0..<Self.participants { try start() }
    for _ in 0..<Self.observers { try start(access: "observer") }
  }

  private mutating func start(access: String = "participant") throws {
    let number = logs.count
    let path = "\(directory)/log\(number)"
    logs.append(HistoryLog(path: path, capacity: HistoryWorker.records) { HostClock.monotonicNanoseconds })
    let seed = generator.next() >> 8
    running.append((try startWorker("history-worker", [table.name, path, "\(number)", "\(seed)", access]), number))
  }

  /// Kills one participant after another, each after some random progress of its own.
  mutating func kill(_ count: Int) throws {
    for _ in 0..<count {
      let index = running.indices.filter { running[$0].number != Self.participants }[generator.below(Self.participants)]
      let (process, number) = running[index]
      let target = logs[number].count + generator.below(2000)
      while logs[number].count < target, logs[number].hasRoom(for: 64), !process.hasEnded { usleep(50) }
      process.kill(SIGKILL)
      let exit = try process.wait()
      if exit != .signal(SIGKILL) {
        throw Unavailable("ended with \(exit): \(process.standardError)")
      }
      running.remove(at: index)
      try start()
    }
  }

  mutating func finish() throws {
    for log in logs { log.requestStop() }
    for (process, _) in running {
      let exit = try process.wait()
      if exit != .code(0) { throw Unavailable("ended with \(exit): \(process.standardError)") }
    }
    running = []
  }
}
