import ArgumentParser
import SharedTable
import ToolSupport

struct Expire: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire", abstract: "Let a key end by itself after a time.",
    discussion: "Its value and type stay. Exit 1 if there is no such key.")

  @OptionGroup var options: CommonOptions

  @Flag(help: "Also if the key belongs to a collection, which is damaged when the key ends.")
  var force = false

  @Argument(help: "The key.")
  var key: RawArgument

  @Argument(help: "After 500ms, 30s or 30, 5m, 1h or 2d.")
  var time: TimeSpan

  func validate() throws {
    if time.milliseconds == 0 { throw ValidationError("the time must be more than nothing; 'del' removes a key") }
  }

  func run(on table: Table) throws {
    let isThere = try KeyChange(table, force: force).run([key.bytes]) { tx in
      try tx.setExpiration(.after(time.duration), of: key.bytes)
    }
    if options.json {
      var object = JSONObject()
      object.add("key", bytes: key.bytes)
      object.add("found", isThere)
      try StandardOutput.write(object.line)
    }
    var misses = Misses()
    if !isThere { misses.add(key.bytes, options, table) }
    try misses.end()
  }
}
