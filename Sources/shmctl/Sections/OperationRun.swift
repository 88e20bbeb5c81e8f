import SharedTable
import TableDump
import ToolSupport

/// Runs lines of operations on a table, by groups or all in one barrier.
struct OperationRun {
  private let table: Table
  private let options: CommonOptions
  private let results: Bool
  private let atomic: Bool
  private let force: Bool

  private static let groupCount = 1000
  private static let groupBytes = 1 << 20

  /// - Parameter force: change keys that belong to a collection, too.
  init(_ table: Table, _ options: CommonOptions, results: Bool, atomic: Bool, force: Bool) {
    self.table = table
    self.options = options
    self.results = results
    self.atomic = atomic
    self.force = force
  }

  private struct Numbered {
    let line: Int
    let operation: Operation
  }

  private struct Tally {
    var done = 0
    var unmet = 0
  }

  func run(_ input: InputFile) throws {
    // A key and a value, each byte four to six characters.
    var lines = LineInput(input, longest: 6 * (table.maximumValueLength + Table.keyLengths.upperBound) + 4096)
    var tally = Tally()
    if atomic {
      try runAtomically(&lines, input.name, &tally)
    } else {
      try runByGroups(&lines, input.name, &tally)
    }
    try report(tally)
    if tally.unmet > 0 { throw ExitStatus.notFound }
  }

  private func runByGroups(_ lines: inout LineInput, _ name: String, _ tally: inout Tally) throws {
    var isAtEnd = false
    while !isAtEnd {
      var group: [Numbered] = []
      var failure: (any Error)?
      var bytes = 0
      // What has come is not kept waiting for what has not.
      while group.count < Self.groupCount, bytes < Self.groupBytes, group.isEmpty || lines.isReady {
        do {
          guard let line = try lines.next() else {
            isAtEnd = true
            break
          }
          bytes += line.count
          if let operation = try parse(line, lines.number, name) {
            group.append(Numbered(line: lines.number, operation: operation))
          }
        } catch {
          failure = error
          break
        }
      }
      try commit(group, name, &tally)
      if let failure { throw failure }
    }
  }

  private func parse(_ line: [UInt8], _ number: Int, _ name: String) throws -> Operation? {
    do throws(OperationLine.Wrong) {
      return try OperationLine.parse(line, json: options.json)
    } catch {
      throw Complaint(.usage, "\(name), line \(number): \(error.message)")
    }
  }

  /// Runs a group in a barrier; if one fails, those before it.
  private func commit(_ group: [Numbered], _ name: String, _ tally: inout Tally) throws {
    guard !group.isEmpty else { return }
    var failed = 0
    let outcomes: [Operation.Outcome]
    do {
      outcomes = try attempt(group, &failed)
    } catch let error as TableError {
      // The barrier itself could not be had: none of the group is done.
      guard failed < group.count else { throw Self.endedEarly(error, name, group[0]) }
      if error.mayFitAfterReclaiming, group.count > 1 {
        // Too much for one barrier, or there is room after reclaiming for fewer.
        let middle = group.count / 2
        try commit(Array(group[..<middle]), name, &tally)
        return try commit(Array(group[middle...]), name, &tally)
      }
      try commit(Array(group[..<failed]), name, &tally)
      throw Self.endedEarly(error, name, group[failed])
    }
    try tell(outcomes, &tally)
  }

  private static func endedEarly(_ error: TableError, _ name: String, _ first: Numbered) -> Complaint {
    Complaint(lineError: error, name, first.line, "; what stands before it is done")
  }

  private func attempt(_ group: [Numbered], _ failed: inout Int) throws -> [Operation.Outcome] {
    // Past the end: the barrier itself could not be had.
    failed = group.count
    return try retryingWhenFull { try runOnce(group, &failed) }
  }

  private func runOnce(_ group: [Numbered], _ failed: inout Int) throws -> [Operation.Outcome] {
    try table.barrier { tx in
      var outcomes: [Operation.Outcome] = []
      outcomes.reserveCapacity(group.count)
      for (index, numbered) in group.enumerated() {
        failed = index
        if !force { try numbered.operation.checkCollections(in: tx) }
        outcomes.append(try numbered.operation.run(in: &tx))
        if atomic, outcomes.last == .unmet { throw Unmet() }
      }
      failed = group.count
      return outcomes
    }
  }

  private struct Unmet: Error {}

  /// Of lines that are one barrier, also for a small table.
  private static let leastAtomicBytes = 64 << 20
  /// About what a line takes in memory besides its own bytes.
  private static let bytesBesideLine = 64

  private func runAtomically(_ lines: inout LineInput, _ name: String, _ tally: inout Tally) throws {
    var all: [Numbered] = []
    // Input without end must not take the host's memory first.
    var bytesLeft = max(2 * table.capacityBytes, Self.leastAtomicBytes)
    while let line = try lines.next() {
      bytesLeft -= line.count + Self.bytesBesideLine
      guard bytesLeft >= 0 else {
        throw Complaint(
          .full, table: table.name,
          "\(name), line \(lines.number): this is more than one barrier of the table could hold; nothing was changed: use 'batch' without "
            + "--atomic, or a table of more capacity")
      }
      if let operation = try parse(line, lines.number, name) {
        all.append(Numbered(line: lines.number, operation: operation))
      }
    }
    guard !all.isEmpty else { return }
    var failed = 0
    do {
      try tell(try attempt(all, &failed), &tally)
    } catch is Unmet {
      options.note(
        table,
        "\(name), line \(all[failed].line): the key is not there or the condition is not met; nothing was changed")
      if options.json { try report(Tally(done: 0, unmet: 1)) }
      throw ExitStatus.notFound
    } catch let error as TableError {
      guard failed < all.count else { throw error }
      throw Complaint(lineError: error, name, all[failed].line, "; nothing was changed")
    }
  }

  private func tell(_ outcomes: [Operation.Outcome], _ tally: inout Tally) throws {
    let unmet = outcomes.count { $0 == .unmet }
    tally.unmet += unmet
    tally.done += outcomes.count - unmet
    guard results else { return }
    var output: [UInt8] = []
    for outcome in outcomes { output += outcome.line(json: options.json) }
    try StandardOutput.write(output)
  }

  private func report(_ tally: Tally) throws {
    guard !results else { return }
    if options.json {
      var object = JSONObject()
      object.add("table", table.name)
      object.add("done", tally.done)
      object.add("unmet", tally.unmet)
      return try StandardOutput.write(object.line)
    }
    if options.quiet { return }
    let unmet = tally.unmet > 0 ? ", \(tally.unmet) not: their key is not there or their condition not met" : ""
    try StandardOutput.write(line: "\(tally.done) operation\(tally.done == 1 ? "" : "s") done\(unmet)")
  }
}

extension Complaint {
  fileprivate init(lineError error: TableError, _ name: String, _ line: Int, _ rest: String) {
    self.init(ExitStatus(error.code), "\(name), line \(line): \(error.message)\(rest)")
  }
}
