import ArgumentParser
import SharedTable
import ToolSupport

struct Incr: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "incr", abstract: "Add to an integer and print the sum.",
    discussion: """
      A key that is not there counts as 0. A string of decimal digits becomes an integer; any other value stays as it \
      is and exits 10. The key's expiry stays.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Allow a key that belongs to a collection; this damages the collection.")
  var force = false

  @Argument(help: "The key.")
  var key: RawArgument

  @Argument(help: ArgumentHelp("What to add: a decimal integer, 1 unless given.", valueName: "amount"))
  var amount: DecimalArgument?

  func run(on table: Table) throws {
    let sum = try KeyChange(table, force: force).run([key.bytes]) { tx in
      try tx.increment(key.bytes, by: amount?.value ?? 1)
    }
    guard options.json else { return try StandardOutput.write(line: String(sum)) }
    var object = JSONObject()
    object.add("key", bytes: key.bytes)
    object.add("value", sum)
    try StandardOutput.write(object.line)
  }
}
