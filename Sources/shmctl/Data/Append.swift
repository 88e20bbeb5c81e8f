import ArgumentParser
import SharedTable
import TableDump
import ToolSupport

struct Append: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "append", abstract: "Add to the end of a string or of bytes, and print the new length.",
    discussion: """
      A key that is not there counts as empty. The type and the time to live stay; a string that something is added to \
      that is no UTF-8, and a value of another type, stay as they are, and exit 10.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Allow a key that belongs to a collection; this damages the collection.")
  var force = false

  @Argument(help: "The key.")
  var key: RawArgument

  @Argument(help: "What to add, or - for standard input.")
  var value: RawArgument

  func run(on table: Table) throws {
    let more = try ValueSource.bytes(value, for: table)
    let length = try KeyChange(table, force: force).run([key.bytes]) { tx in
      let record = try OwnedRecord(appending: more, to: tx.record(key.bytes), key.bytes, table: table.name)
      try tx.store(record)
      return record.value.count
    }
    guard options.json else { return try StandardOutput.write(line: String(length)) }
    var object = JSONObject()
    object.add("key", bytes: key.bytes)
    object.add("valueBytes", length)
    try StandardOutput.write(object.line)
  }
}
