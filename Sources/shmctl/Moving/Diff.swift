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

  func run() throws {
    var difference = KeyDifference(ignoreExpiry: ignoreExpiry)
    try forEachRecord(of: first) { record in difference.add(first: record) }
    try forEachRecord(of: second) { record in difference.add(second: record) }
    try difference.tell(json: options.json)
  }

  private func forEachRecord(of side: RawArgument, _ look: (DumpRecord) -> Void) throws {
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
    try RecordScan.run(table) { view in try view.forEachRecord(of: table, look) }
  }
}
