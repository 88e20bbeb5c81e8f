import Glibc
import SharedTable
import TableEngine
import TestSupport

/// G6: recovery grows with the transaction that was in flight, and not with the table.
///
/// A process is killed inside a barrier that overwrites some keys; the next barrier of another one recovers. What that
/// barrier did is counted by the engine, and the pages of the table that it touched by the kernel: work that the
/// engine forgot to count shows there.
enum RecoveryTime {
  static let items = Table.Variant.allCases.map { variant in
    Item("recovery.time-\(variant)", "the barrier after a death does the same work whatever the table's size") { run in
      try grow(variant, run)
    }
  }

  private static func grow(_ variant: Table.Variant, _ run: Run) throws {
    var work: [Int: [Int]] = [:]
    for keys in [10_000, 1_000_000] + (run.isLong ? [10_000_000] : []) {
      try withTableName { name in
        // On small pages: of a huge one that is touched the kernel counts all 512.
        let table = try Table.create(
          name, .init(variant: variant, capacityBytes: max(64 << 20, keys * 140), hugePages: false))
        try load(table, keys)
        for transaction in [1, 10_000] {
          // A page of bucket words a key; journal, limbo and bitmaps; and what every barrier touches.
          let bound = 32 + 2 * transaction
          var figures = try recover(table, keys: keys, transaction: transaction)
          // The kernel, when it ages pages meanwhile, marks some more; what recovery touches it touches every time.
          for _ in 0..<2 where figures.pages > bound {
            figures = try recover(table, keys: keys, transaction: transaction)
          }
          // A block more or less may have been due to be freed anyway.
          let isAlike = zip(figures.work, work[transaction, default: figures.work]).allSatisfy {
            $0 <= $1 + max(4, $1 / 100)
          }
          try run.expect(
            isAlike,
            "\(transaction) keys in flight: \(figures.work) with \(keys) keys, \(work[transaction]!) with fewer")
          work[transaction] = figures.work
          try run.expect(
            figures.pages <= bound,
            "\(transaction) keys in flight, \(keys) in the table: recovery touched \(figures.pages) pages")
          run.row(
            "kill in a barrier", "\(variant)", "\(keys)", "\(transaction)", "\(figures.work.reduce(0, +))",
            "\(figures.pages)", "\(figures.microseconds)")
        }
        let problems = try table.check()
        try run.expect(problems.isEmpty, "after recovery: \(problems)")
        try run.expect(table.count == keys, "\(table.count) keys instead of \(keys)")
      }
    }
  }

  private static func load(_ table: Table, _ keys: Int) throws {
    for start in stride(from: 0, to: keys, by: 10_000) {
      try table.barrier(timeout: .seconds(60)) { tx in
        for index in start..<min(keys, start + 10_000) { try tx.set(key(index), 0) }
      }
    }
    // Old sub-tables that splits left: not the recovery's work.
    while try table.administration.maintain() == true {}
  }

  private static func recover(
    _ table: Table, keys: Int, transaction: Int
  ) throws -> (microseconds: Int, pages: Int, work: [Int]) {
    let next = try startWorker("recovery-next", [table.name])
    try next.expectLine("ready")
    let victim = try startWorker("recovery-victim", [table.name, "\(transaction)", "\(keys / transaction)"])
    try victim.expectLine("inside")
    try victim.killAndWait()
    let answer = try next.ask("go").split(separator: " ").map { Int($0)! }
    try next.finish()
    return (answer[0], answer[1], Array(answer[2...]))
  }

  static func key(_ index: Int) -> String {
    let digits = String(index)
    return "key:" + String(repeating: "0", count: 12 - digits.utf8.count) + digits
  }
}

// MARK: - Roles

extension RecoveryTime {
  /// Overwrites keys in a barrier that never ends.
  static func victim(_ arguments: [String]) throws {
    let table = try Table.open(arguments[0], access: .participant)
    let stride = Int(arguments[2])!
    try table.barrier(timeout: .seconds(60)) { tx in
      for index in 0..<Int(arguments[1])! { try tx.set(key(index * stride), 1) }
      say("inside")
      _ = readLine()
    }
  }

  /// Answers one line with what its next barrier took: microseconds, pages touched, the engine's counts.
  static func next(_ arguments: [String]) throws {
    let table = try Table.open(arguments[0], access: .participant)
    try table.barrier { _ in }
    let work = table.segment.work!
    say("ready")
    guard readLine() != nil else { return }
    let pages = TouchedPages(ofTable: arguments[0])
    let before = work.all
    let begin = ContinuousClock.now
    try table.barrier(timeout: .seconds(60)) { _ in }
    let time = (ContinuousClock.now - begin) / Duration.microseconds(1)
    let after = work.all
    say("\(Int(time)) \(pages.count) \(zip(after, before).map { "\($0 - $1)" }.joined(separator: " "))")
  }
}

/// How many pages of a table's mappings this process has touched since: by the kernel's own accessed bits.
private struct TouchedPages {
  private let name: String

  init(ofTable name: String) {
    self.name = name
    // Mapped pages only have such a bit; the kernel maps the neighbours of a faulting page unasked.
    Self.forEachMapping(of: name) { range in
      _ = madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, Self.populateRead)
    }
    let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    precondition(file >= 0 && write(file, "1", 1) == 1, "cannot clear the accessed bits")
    close(file)
  }

  private static let populateRead: Int32 = 22  // MADV_POPULATE_READ, Linux 5.14

  var count: Int {
    var kilobytes = 0
    Self.forEachLine { line, isOurs in
      if isOurs, line.hasPrefix("Referenced:") {
        kilobytes += Int(line.split(separator: " ")[1]) ?? 0
      }
    } isOurs: {
      $0.contains("shmtable.\(name).")
    }
    return kilobytes / 4
  }

  private static func forEachMapping(of name: String, _ body: (Range<UInt>) -> Void) {
    forEachLine { line, _ in
      guard line.contains("shmtable.\(name).") else { return }
      let ends = line.prefix { $0 != " " }.split(separator: "-").map { UInt($0, radix: 16)! }
      body(ends[0]..<ends[1])
    } isOurs: { _ in
      false
    }
  }

  /// Lines of smaps; those after a mapping's heading belong to it.
  private static func forEachLine(_ body: (Substring, Bool) -> Void, isOurs: (Substring) -> Bool) {
    var ours = false
    for line in ProcessFile.lines(of: "/proc/self/smaps") {
      if line.first?.isHexDigit == true, line.prefix(20).contains("-") { ours = isOurs(line) }
      body(line, ours)
    }
  }
}
