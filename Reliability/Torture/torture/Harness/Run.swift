import Glibc
import TestSupport

/// One run over the items of a group: what is asked of them, and what they came to.
final class Run {
  let group: Group
  /// Everything (`make torture`), or a bounded form of it.
  let isLong: Bool
  let seed: UInt64
  private let failFast: Bool
  private var item: Item?
  private var failures = 0
  private var rows: [[String]] = []
  private var remarks: [String] = []

  /// Ends an item at its first broken promise.
  private struct Stop: Error {}

  init(group: Group, isLong: Bool, seed: UInt64, failFast: Bool) {
    self.group = group
    self.isLong = isLong
    self.seed = seed
    self.failFast = failFast
  }

  /// Random numbers of this item, which no other item's draw from.
  var generator: SplitMix {
    SplitMix(seed: (item?.name ?? "").utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
  }

  func bounded(_ value: Int, long: Int) -> Int { isLong ? long : value }

  /// A promise. The first few that are broken are printed.
  /// - Throws: to end the item, with `--fail-fast`, or when it has failed too often to say anything new.
  func expect(_ holds: Bool, _ message: @autoclosure () -> String) throws {
    guard !holds else { return }
    failures += 1
    if failures <= 10 { say("  broken: \(message()) (seed \(seed))") }
    if failFast || failures >= 100 { throw Stop() }
  }

  /// A row of the group's table in the report.
  func row(_ cells: String...) {
    precondition(cells.count == group.columns.count, "\(group.title): \(cells.count) cells")
    rows.append(cells)
  }

  /// A sentence of the report, below the table.
  func remark(_ text: String) { remarks.append(text) }

  /// - Returns: false if a promise was broken, or the item could not be run.
  func perform(_ item: Item) -> Bool {
    self.item = item
    failures = 0
    let first = (rows.count, remarks.count)
    let begin = ContinuousClock.now
    do {
      try item.body(self)
    } catch is Stop {
    } catch let error as NotRun {
      say("NOT RUN \(item.name): \(error.reason)")
      remark("Not run: `\(item.name)`: \(error.reason).")
      return failures == 0
    } catch {
      failures += 1
      say("  failed: \(error) (seed \(seed))")
    }
    let seconds = (ContinuousClock.now - begin).components.seconds
    say("\(failures == 0 ? "ok    " : "FAILED") \(item.name), \(seconds) s")
    for row in rows[first.0...] {
      say("       \(zip(group.columns, row).map { "\($0) \($1)" }.joined(separator: "; "))")
    }
    for remark in remarks[first.1...] { say("       \(remark)") }
    return failures == 0
  }

  /// Writes `DIRECTORY/NN.md`, the figures of this group's chapter.
  func writeReport(to directory: String) throws {
    var text = "\n\(provenance(self))\n\n"
    if !rows.isEmpty {
      text += "| \(group.columns.joined(separator: " | ")) |\n|\(group.columns.map { _ in "---|" }.joined())\n"
      for row in rows { text += "| \(row.joined(separator: " | ")) |\n" }
      text += "\n"
    }
    for remark in remarks { text += "\(remark)\n\n" }
    let number = group.number < 10 ? "0\(group.number)" : "\(group.number)"
    guard let file = fopen("\(directory)/\(number).md", "we") else {
      throw Unavailable("cannot write into \(directory)")
    }
    defer { fclose(file) }
    fputs(text, file)
  }
}

/// What an item needs is not to be had here, and why: no failure, but nothing that looks like success either.
struct NotRun: Error {
  let reason: String
  init(_ reason: String) { self.reason = reason }
}

/// An item that could not be tried, and why.
struct Unavailable: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
