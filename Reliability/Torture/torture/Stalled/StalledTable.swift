import Glibc
import SharedMemory
import SharedTable
import TestSupport

/// A table under observation: what is written to it, and what memory that takes.
final class StalledTable {
  let table: Table
  let budget: Int
  let keys: Int
  private let objects: [SharedObject]
  private let baseline: Int
  private var round = 1
  private var next = 0
  private(set) var writes = 0
  private(set) var peakLimbo = 0
  private(set) var peakPages = 0

  init(_ name: String, variant: Table.Variant = .rcu, keys: Int, budget: Int, _ policy: Table.StalledReaderPolicy)
    throws
  {
    self.keys = keys
    self.budget = budget
    table = try Table.create(
      name,
      .init(variant: variant, capacityBytes: 32 << 20, limboBudgetBytes: budget, stalledReaderPolicy: policy),
      timeout: .milliseconds(20))
    // Twice, so that what overwriting needs without any reader is part of the baseline.
    for _ in 0..<2 {
      for key in 0..<keys { try table.set(StalledContents.key(key), StalledContents.value(key, round: 0)) }
    }
    while try table.administration.maintain() == true {}
    objects = try ["data", "ctl"].map { try SharedObject.open(name: "shmtable.\(name).\($0)", writable: false) }
    baseline = try objects.reduce(0) { try $0 + $1.status().allocated }
  }

  /// Overwrites keys one after the other, up to `count` of them.
  /// - Returns: the error that ended it.
  func write(_ count: Int) throws -> TableError? {
    for number in 0..<count {
      do {
        try table.set(StalledContents.key(next), StalledContents.value(next, round: round))
      } catch {
        try look()
        return error
      }
      writes += 1
      next += 1
      if next == keys { (next, round) = (0, round + 1) }
      if number % 997 == 0 { try look() }
    }
    try look()
    return nil
  }

  /// The memory that readers keep: as the table counts it, and in pages of the two objects beyond what they had.
  func look() throws {
    peakLimbo = max(peakLimbo, table.statistics.limboBytes ?? 0)
    peakPages = max(peakPages, try objects.reduce(0) { try $0 + $1.status().allocated } - baseline)
  }

  /// G7: a budget is overdrawn by at most one barrier; pages are claimed by units of 1 MiB, rings by doubling.
  func expectBounded(_ run: Run, _ what: String) throws {
    let ofOneWrite = 512
    try run.expect(peakLimbo <= budget + ofOneWrite, "\(what): \(peakLimbo) bytes are kept, of a budget of \(budget)")
    try run.expect(peakPages <= budget + (3 << 20), "\(what): \(peakPages) bytes of /dev/shm were claimed")
  }

  /// What `stat` says of the process; nil if it names it not.
  func figures(of pid: Int32) -> Table.Statistics.Reader? {
    table.statistics.readers.filter { $0.holder.pid == pid && $0.version != nil }.max { $0.keptBytes < $1.keptBytes }
  }

  func row(_ run: Run, _ what: String, _ policy: String, _ outcome: String) {
    run.row(
      what, policy, "\(writes)", "\(peakLimbo >> 10) KiB counted, \(peakPages >> 10) KiB of pages more",
      "\(budget >> 10) KiB", outcome)
  }
}

extension WorkerProcess {
  /// Waits until the process is stopped, as SIGSTOP does it.
  func waitUntilStopped() throws {
    while true {
      var line = [CChar](repeating: 0, count: 512)
      guard let file = fopen("/proc/\(pid)/stat", "re") else { throw Unavailable("process \(pid) is gone") }
      let text =
        fgets(&line, 512, file) == nil
        ? "" : String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      fclose(file)
      // Behind the command's name, which is in parentheses.
      if text.split(separator: ")").last?.hasPrefix(" T") == true { return }
      usleep(200)
    }
  }
}
