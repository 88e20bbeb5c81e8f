import ArgumentParser
import SharedTable
import TableDump
import ToolSupport

struct Diff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Say in which keys two tables or dumps differ.",
    discussion: """
      A line for each: '-' and the key for one that only the first has, '+' for one that only the second has, '~' for one \
      whose value, type or expiry differs; sorted, keys spelled as 'batch' reads them. Exit 1 if there is a difference. A \
      name with a slash in it is a dump's, '-' is a dump on standard input, any other a table's.

      EXAMPLES
        shmctl diff settings settings.old
        shmctl diff ./settings.dump settings
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Let keys count as equal that differ in their expiry only.")
  var ignoreExpiry = false

  @Argument(help: "A table, or a dump: ./FILE.")
  var first: RawArgument

  @Argument(help: "Another.")
  var second: RawArgument

  func validate() throws {
    try options.refuseTable(for: "diff")
    if first.isStandardInput, second.isStandardInput {
      throw ValidationError("Standard input can be one of the two only")
    }
  }

  private enum Change: String {
    case removed, added, changed

    var mark: String {
      switch self {
      case .removed: "-"
      case .added: "+"
      case .changed: "~"
      }
    }
  }

  private struct Seen: Equatable {
    let digest: [UInt64]
    let expiry: UInt64
  }

  func run() throws {
    // Of the first every key and 24 bytes for its value are kept, of the second only differences.
    var left: [[UInt8]: Seen] = [:]
    try forEachRecord(of: first) { key, seen in left[key] = seen }
    var changes: [(key: [UInt8], change: Change)] = []
    try forEachRecord(of: second) { key, seen in
      switch left.removeValue(forKey: key) {
      case nil: changes.append((key, .added))
      case let other where other != seen: changes.append((key, .changed))
      default: break
      }
    }
    changes += left.keys.map { ($0, .removed) }
    changes.sort { $0.key.lexicographicallyPrecedes($1.key) }
    var output: [UInt8] = []
    for (key, change) in changes { output += line(key, change) }
    try StandardOutput.write(output)
    if !changes.isEmpty { throw ExitStatus.notFound }
  }

  private func line(_ key: [UInt8], _ change: Change) -> [UInt8] {
    guard options.json else { return Array("\(change.mark) ".utf8) + WordLine.escaped(key) + [UInt8(ascii: "\n")] }
    var object = JSONObject()
    object.add("key", bytes: key)
    object.add("change", change.rawValue)
    return object.line
  }

  private func forEachRecord(of side: RawArgument, _ body: ([UInt8], Seen) -> Void) throws {
    func look(_ record: DumpRecord) {
      body(record.keyBytes, Seen(digest: record.digest, expiry: ignoreExpiry ? 0 : record.attributes.expiry))
    }
    if side.isStandardInput || side.bytes.contains(UInt8(ascii: "/")) {
      _ = try DumpSource(InputFile(side), Int(UInt32.max)).forEachBatch { batch in batch.forEach(look) }
      return
    }
    let table: Table
    do { table = try options.open(side.text) } catch let error as TableError where error.code == .noSuchTable {
      throw TableError(
        .noSuchTable, table: side.text,
        "no such table; 'shmctl tables' lists them, and a dump is named with a slash: ./FILE")
    }
    try table.read { view in try view.forEachRecord(look) }
  }
}
