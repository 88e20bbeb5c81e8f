import ArgumentParser
import SharedTable
import ToolSupport

struct Del: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "del", abstract: "Remove keys, all in one barrier.",
    discussion: "Exit 1 if any was not found; those found are removed all the same.")

  @OptionGroup var options: CommonOptions

  @Argument(help: ArgumentHelp("Keys.", valueName: "key"))
  var keys: [RawArgument]

  func run(on table: Table) throws {
    let removed = try remove(from: table)
    for (key, removed) in zip(keys, removed) {
      if !removed { options.note(table, "no key '\(key.shown)'; nothing to remove") }
      if options.json {
        var object = JSONObject()
        object.add("key", bytes: key.bytes)
        object.add("removed", removed)
        try StandardOutput.write(object.line)
      }
    }
    if removed.contains(false) { throw ExitStatus.notFound }
  }

  /// Starts over once when the table was full, as the library's own single writes do: a removal needs room too, and
  /// the failed attempt asked for gc.
  private func remove(from table: Table) throws -> [Bool] {
    do {
      return try attempt(on: table)
    } catch let error as TableError where error.code == .full && error.holder == nil {
      return try attempt(on: table)
    }
  }

  private func attempt(on table: Table) throws -> [Bool] {
    try table.barrier { tx in
      var removed: [Bool] = []
      for key in keys { removed.append(try tx.remove(key.bytes)) }
      return removed
    }
  }
}
