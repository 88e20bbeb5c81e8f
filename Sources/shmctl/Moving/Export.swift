import ArgumentParser
import SharedTable
import TableDump
import ToolSupport

struct Export: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write a table's keys in a form that other programs read.",
    discussion: """
      csv: a line each of key, value, type, expiryMilliseconds, encoding (base64 where key or value is no UTF-8). env: \
      NAME="value", as shells read it, of keys that can be names. resp: for 'redis-cli --pipe'. What the form cannot hold (structs, in env \
      other keys) is left out and counted on standard error; 'dump' holds everything. One version of the table.

      EXAMPLES
        shmctl export -t settings csv -o settings.csv
        shmctl export -t settings resp | redis-cli --pipe
      """)

  @OptionGroup var options: CommonOptions

  @Option(name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"))
  var output: RawArgument?

  @Option(help: ArgumentHelp("Only keys that begin with this.", valueName: "prefix"))
  var prefix: RawArgument?

  @Argument(help: "csv, env or resp.")
  var form: PlainForm

  func run(on table: Table) throws {
    let file = try output.flatMap { $0.isStandardInput ? nil : try OutputFile($0, mode: 0o600) }
    // Without a name first, where a reader of a pipe must not hold up writers.
    let waits = file?.isRegular ?? false || RecordScan.mayWait(table)
    let spool = waits ? nil : try Spool()
    var target = OutputBuffer(file?.descriptor ?? 1, file == nil ? "the output" : "'\(output?.shown ?? "")'")
    let leftOut: Int
    if let spool {
      var first = OutputBuffer(spool.descriptor, "the temporary file")
      leftOut = try write(table, to: &first)
      try spool.copy(to: &target)
      try target.flush()
    } else {
      leftOut = try write(table, to: &target)
    }
    try file?.finish()
    if leftOut > 0 {
      options.note(
        table,
        "\(leftOut) \(leftOut == 1 ? "key" : "keys") left out, which \(form) cannot hold; 'shmctl dump' holds all")
    }
  }

  private func write(_ table: Table, to output: inout OutputBuffer) throws -> Int {
    let writer: any PlainWriter =
      switch form {
      case .csv: CSVWriter()
      case .env: EnvWriter()
      case .resp: RESPWriter()
      }
    var leftOut = 0
    try output.append(writer.start)
    try RecordScan.run(table) { view in
      try view.forEachRecord(of: table, prefix: prefix?.bytes ?? []) { record in
        if let line = writer.record(OwnedRecord(record)) { try output.append(line) } else { leftOut += 1 }
      }
    }
    try output.flush()
    return leftOut
  }
}
