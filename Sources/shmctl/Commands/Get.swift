import ArgumentParser
import SharedTable
import ToolSupport

struct Get: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print the values of keys.",
    discussion: """
      One key: exactly the value's bytes, with a newline only on a terminal. Several: each on a line of its own, all \
      of one snapshot. Integers, doubles and bools are printed as text. With --json each is an object with its type, \
      version and expiry. Exit 1 if any is not found.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(name: .customShort("0"), help: "End each value with a zero byte.")
  var null = false

  @Argument(help: ArgumentHelp("Keys.", valueName: "key"))
  var keys: [RawArgument]

  func run(on table: Table) throws {
    // Copied before anything is printed: a section must not wait for whoever reads the other end of a pipe.
    let found = try table.read { view in try keys.map { try view.entry($0.bytes) } }
    for (key, entry) in zip(keys, found) {
      if let entry { try print(key, entry) } else { try miss(key, table) }
    }
    if found.contains(where: { $0 == nil }) { throw ExitStatus.notFound }
  }

  private func print(_ key: RawArgument, _ entry: TableEntry) throws {
    if options.json {
      var object = JSONObject()
      object.add("key", bytes: key.bytes)
      object.add("found", true)
      entry.describe(in: &object)
      return try StandardOutput.write(object.line)
    }
    try StandardOutput.write(entry.text)
    if null {
      try StandardOutput.write([0])
    } else if keys.count > 1 || StandardOutput.isTerminal {
      try StandardOutput.write([UInt8(ascii: "\n")])
    }
  }

  private func miss(_ key: RawArgument, _ table: Table) throws {
    options.note(table, "no key '\(key.shown)'; 'shmctl ls' shows what there is")
    guard options.json else { return }
    var object = JSONObject()
    object.add("key", bytes: key.bytes)
    object.add("found", false)
    try StandardOutput.write(object.line)
  }
}
