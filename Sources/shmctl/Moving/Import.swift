import ArgumentParser
import SharedTable
import TableDump
import ToolSupport

struct Import: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Put keys from a file of another program's form into a table.",
    discussion: """
      The forms of 'export'. csv needs a first line that names its columns, 'key' and 'value' among them. env takes quotes, \
      'export' and comments, and expands nothing. resp takes SET with EX, PX, EXAT or PXAT. All of the input is read and \
      checked before anything is stored; keys that are there are overwritten, or with --if-absent left. One that belongs to a \
      collection is refused without --force, and nothing is stored then.

      EXAMPLES
        shmctl import -t settings env .env
        shmctl import -t settings csv < settings.csv
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Leave keys that are there as they are.")
  var ifAbsent = false

  @Flag(help: "Allow keys that belong to a collection; this damages the collection.")
  var force = false

  @Argument(help: "csv, env or resp.")
  var form: PlainForm

  @Argument(help: ArgumentHelp("The file; standard input if none or -.", valueName: "file"))
  var file: RawArgument?

  func run(on table: Table) throws {
    let input = try InputFile(file)
    let bytes = try input.readAll(limit: .max - 1)
    let now = try table.read { view in view.now }
    let records: [OwnedRecord]
    do throws(PlainProblem) { records = try parse(bytes, now: now) } catch {
      throw Complaint.usage("\(input.name), \(error.place): \(error.message); nothing was changed")
    }
    try check(records, table, input.name)
    if !force { try refuseCollections(among: records, in: table) }
    var load = RecordLoad(table, ifAbsent ? .keep : .overwrite)
    do {
      try apply(records, &load)
    } catch {
      guard load.done > 0 else { throw error }
      throw Complaint(error, table.name, "\(load.done) records are stored")
    }
    try LoadReport(load).report(options, table)
  }

  private func apply(_ records: [OwnedRecord], _ load: inout RecordLoad) throws {
    var batch = DumpBatch()
    for record in records {
      batch.append(record)
      guard batch.isFull else { continue }
      try load.apply(batch)
      batch.removeAll()
    }
    try load.apply(batch)
  }

  /// What no table of this capacity can take is said before the first record is stored.
  private func check(_ records: [OwnedRecord], _ table: Table, _ name: String) throws(Complaint) {
    let longest = table.maximumValueLength
    guard let record = records.first(where: { $0.value.count > longest }) else { return }
    throw Complaint(
      .tooLarge, table: table.name,
      "\(name) has a value of \(record.value.count) bytes for key '\(String.printableStart(record.key))', and the table takes \(longest); "
        + "nothing was changed: store it in parts, or make a table of more capacity")
  }

  /// Before the first is stored: all of them or none. These forms hold no collection whole, as a dump does.
  private func refuseCollections(among records: [OwnedRecord], in table: Table) throws {
    try table.read { view in
      for record in records {
        guard let collection = try view.collection(of: record.key) else { continue }
        if ifAbsent, try view.contains(record.key) { continue }
        throw KeyChange.refusal(of: record.key, collection, table)
      }
    }
  }

  private func parse(_ bytes: [UInt8], now: UInt64) throws(PlainProblem) -> [OwnedRecord] {
    switch form {
    case .csv: try CSVReader.records(Self.text(bytes))
    case .env: try EnvReader.records(Self.text(bytes))
    case .resp: try RESPReader.records(bytes, now: now)
    }
  }

  /// Without the mark of UTF-8 (U+FEFF) that spreadsheets and editors put before the first line.
  private static func text(_ bytes: [UInt8]) -> [UInt8] {
    let mark = Array("\u{feff}".utf8)
    return bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
  }
}
