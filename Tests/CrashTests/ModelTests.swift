import Glibc
import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// Random operations of several processes against a dictionary.
///
/// Each process logs what it did and saw; folding the logs by version into a dictionary must reproduce every result
/// (G1–G4). MODEL_OPERATIONS and MODEL_SEED override the defaults; a failure prints the seed.
@Suite(.serialized) struct ModelTests {
  #if DEBUG
    static let defaultOperations = 40_000
  #else
    static let defaultOperations = 1_000_000
  #endif
  static let keys = 3000

  @Test(arguments: Table.Variant.allCases) func everyResultIsThatOfADictionary(_ variant: Table.Variant) throws {
    // Both variants together do the number of operations asked for.
    try run(variant, operations: (environment("MODEL_OPERATIONS") ?? Self.defaultOperations) / 2, kills: 0)
  }

  @Test(arguments: Table.Variant.allCases) func everyResultIsThatOfADictionaryAlsoWhenProcessesAreKilled(
    _ variant: Table.Variant
  ) throws {
    try run(
      variant, operations: (environment("MODEL_OPERATIONS") ?? Self.defaultOperations) / 10,
      kills: environment("MODEL_KILLS") ?? 20)
  }

  private func run(_ variant: Table.Variant, operations: Int, kills: Int) throws {
    let seed = UInt64(environment("MODEL_SEED") ?? Int(UInt32.random(in: 1 ... .max)))
    let processes = 4
    try withTemporaryDirectory { directory in
      try withTable(variant, capacityBytes: 64 << 20) { table throws in
        var fleet = Fleet(table, directory, seed: seed, operations: operations / processes)
        for _ in 0..<processes { try fleet.launch() }
        try fleet.kill(kills)
        try fleet.finish()
        let problems = try table.check()
        #expect(problems == [], "seed \(seed)")
        var model = Model(keys: Self.keys)
        for (number, log) in fleet.logs.enumerated() { model.add(log, worker: number) }
        try model.resolve(table)
        let differences = model.verify()
        #expect(differences.isEmpty, "seed \(seed): \(differences.prefix(5).joined(separator: "\n"))")
        #expect(try model.difference(from: table) == nil, "seed \(seed)")
      }
    }
  }
}

/// The processes of one run. One that is killed is followed by a new one, with its own log.
private struct Fleet {
  let table: Table
  let directory: String
  let operations: Int
  var generator: SplitMix
  var running: [(process: WorkerProcess, log: Int)] = []
  var logs: [OperationLog] = []

  init(_ table: Table, _ directory: String, seed: UInt64, operations: Int) {
    self.table = table
    self.directory = directory
    self.operations = operations
    generator = SplitMix(seed: seed)
  }

  mutating func launch() throws {
    let number = logs.count
    let path = "\(directory)/log\(number)"
    let process = try worker(table, timeoutSeconds: 600)
    logs.append(OperationLog(path: path, capacity: operations * 14))
    try process.send("random \(generator.next() >> 8) \(operations) \(path) \(ModelTests.keys) \(number)")
    running.append((process, number))
  }

  /// Kills one process after another, each after some random progress of its own.
  mutating func kill(_ count: Int) throws {
    for _ in 0..<count {
      let index = generator.below(running.count)
      let (process, number) = running[index]
      let target = logs[number].count + generator.below(operations / 8 + 1)
      while logs[number].count < target, try !hasEnded(process) { usleep(50) }
      process.kill(SIGKILL)
      _ = try process.wait()
      running.remove(at: index)
      try launch()
    }
  }

  private func hasEnded(_ process: WorkerProcess) throws -> Bool {
    var info = siginfo_t()
    waitid(P_PID, id_t(process.pid), &info, WEXITED | WNOHANG | WNOWAIT)
    return info.si_signo != 0 || process.hasOutput
  }

  mutating func finish() throws {
    for (process, _) in running {
      let answer = try process.readLine()
      #expect(answer == "done 0")
      try process.finish()
    }
  }
}

/// The logs, folded.
private struct Model {
  private struct Change {
    let version: UInt64
    let value: UInt64  // 0 = absent
  }
  private struct Barrier {
    let version: UInt64
    let worker: Int
    let records: [OperationLog.Record]
  }

  private let keys: Int
  private var barriers: [Barrier] = []
  private var aborted: [Barrier] = []
  private var unsure: [Barrier] = []
  private var reads: [OperationLog.Record] = []
  /// By key, in the order of versions.
  private var history: [Int: [Change]] = [:]
  private var counts: [Change] = []
  private var state: [Int: UInt64] = [:]
  private var problems: [String] = []

  init(keys: Int) { self.keys = keys }

  mutating func add(_ log: OperationLog, worker: Int) {
    var open: [OperationLog.Record]?
    for index in 0..<log.count {
      let record = log[index]
      switch record.kind {
      case .begin: open = [record]
      case .set, .remove, .readInside: open?.append(record)
      case .commit:
        barriers.append(Barrier(version: record.version, worker: worker, records: open!))
        open = nil
      case .abort:
        aborted.append(Barrier(version: record.version, worker: worker, records: open!))
        open = nil
      case .get, .read, .count: reads.append(record)
      }
    }
    // The process was killed between its begin and its commit's return.
    if let open { unsure.append(Barrier(version: open[0].version, worker: worker, records: open)) }
  }

  /// Did the last barrier of a killed process commit? Its own counter in the table says so.
  mutating func resolve(_ table: Table) throws {
    for barrier in unsure {
      let own = keys + barrier.worker
      let stored = try table.bytes(forKey: "key \(own)").flatMap(TracedValue.id)
      let written = barrier.records.last { $0.kind == .set && $0.key == own }?.value
      if let written, stored == written { barriers.append(barrier) } else { aborted.append(barrier) }
    }
  }

  /// - Returns: what no dictionary would have answered.
  mutating func verify() -> [String] {
    barriers.sort { $0.version < $1.version }
    checkVersions()
    var undone = aborted.sorted { $0.version < $1.version }[...]
    for barrier in barriers {
      while let next = undone.first, next.version < barrier.version { _ = replay(undone.removeFirst()) }
      for (key, value) in replay(barrier) {
        history[key, default: []].append(Change(version: barrier.version, value: value))
        state[key] = value == 0 ? nil : value
      }
      counts.append(Change(version: barrier.version, value: UInt64(state.count)))
    }
    for barrier in undone { _ = replay(barrier) }
    for read in reads { check(read) }
    return problems
  }

  private mutating func checkVersions() {
    for (first, second) in zip(barriers, barriers.dropFirst()) where first.version == second.version {
      problems.append("version \(first.version) was committed by workers \(first.worker) and \(second.worker) (G3)")
    }
  }

  /// What a barrier changed, 0 for absent; compares what it saw inside.
  private mutating func replay(_ barrier: Barrier) -> [Int: UInt64] {
    var changes: [Int: UInt64] = [:]
    for record in barrier.records {
      let before = changes[record.key] ?? state[record.key] ?? 0
      switch record.kind {
      case .set:
        changes[record.key] = record.value
      case .remove:
        changes[record.key] = 0
        if (before != 0) != (record.value != 0) {
          problems.append("version \(barrier.version): remove of key \(record.key), which was \(before), was wrong")
        }
      case .readInside where before != record.value:
        problems.append("version \(barrier.version): key \(record.key) read \(record.value) inside, not \(before)")
      default: break
      }
    }
    return changes
  }

  private mutating func check(_ read: OperationLog.Record) {
    switch read.kind {
    case .get:
      let changes = history[read.key] ?? []
      var index = Self.index(changes, read.version)
      while true {
        if (index < 0 ? 0 : changes[index].value) == read.value { return }
        index += 1
        guard index < changes.count, changes[index].version <= read.other else { break }
      }
      problems.append("key \(read.key) read \(read.value) between versions \(read.version) and \(read.other)")
    case .read:
      let changes = history[read.key] ?? []
      let index = Self.index(changes, read.version)
      let value = index < 0 ? 0 : changes[index].value
      if value != read.value {
        problems.append("key \(read.key) read \(read.value) at version \(read.version), not \(value) (G1)")
      }
      checkOrder(read)
    case .count:
      let index = Self.index(counts, read.version)
      let value = index < 0 ? 0 : counts[index].value
      if value != read.value {
        problems.append("\(read.value) keys counted at version \(read.version), not \(value) (G1)")
      }
      checkOrder(read)
    default: break
    }
  }

  /// G4: a section that begins after a version was committed sees it.
  private mutating func checkOrder(_ read: OperationLog.Record) {
    if read.version < read.other {
      problems.append("a section saw version \(read.version) after \(read.other) was committed (G4)")
    }
  }

  /// Index of the last change up to a version; -1 if there is none.
  private static func index(_ changes: [Change], _ version: UInt64) -> Int {
    var low = 0
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].version <= version { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  /// The first key whose value in the table is another than in the dictionary.
  func difference(from table: Table) throws -> String? {
    try table.read { view in
      var expected = 0
      for (key, changes) in history {
        let value = changes.last!.value
        if value != 0 { expected += 1 }
        let stored = try view.entry(forKey: "key \(key)").flatMap { TracedValue.id($0.bytes) } ?? 0
        if stored != value { return "key \(key) is \(stored), not \(value)" }
      }
      let count = try view.count()
      return count == expected ? nil : "\(count) keys, not \(expected)"
    }
  }
}
