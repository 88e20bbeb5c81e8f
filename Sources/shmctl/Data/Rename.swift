import ArgumentParser
import SharedTable
import ToolSupport

struct Rename: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Give a value another key.",
    discussion: """
      In one barrier, with its type and time to live. What the new key had is replaced, unless --if-absent. Exit 1 if there \
      is no such key, or with --if-absent if the new one exists.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Only if there is no such new key.")
  var ifAbsent = false

  @Flag(help: "Allow keys that belong to a collection; this damages the collection.")
  var force = false

  @Argument(help: "The key.")
  var key: RawArgument

  @Argument(help: "The new one.")
  var newKey: RawArgument

  func run(on table: Table) throws {
    let complaint = try KeyChange(table, force: force).run([key.bytes, newKey.bytes]) { tx -> String? in
      if ifAbsent, try tx.contains(newKey.bytes) { return "key '\(newKey.shown)' exists already; nothing was renamed" }
      return try tx.rename(key.bytes, to: newKey.bytes) ? nil : "no key '\(key.shown)'; nothing was renamed"
    }
    if options.json {
      var object = JSONObject()
      object.add("key", bytes: key.bytes)
      object.add("renamed", complaint == nil)
      try StandardOutput.write(object.line)
    }
    guard let complaint else { return }
    options.note(table, complaint)
    throw ExitStatus.notFound
  }
}
