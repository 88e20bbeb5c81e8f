import ArgumentParser
import SharedTable
import ToolSupport

struct Del: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "del", abstract: "Remove keys, those of the command line in one barrier.",
    discussion: """
      Exit 1 if any was not found; those found are removed all the same. A key '-' stands for keys on standard input.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(name: .customShort("0"), help: "Keys on standard input end with a zero byte.")
  var null = false

  @Argument(help: ArgumentHelp("Keys, or - for those on standard input.", valueName: "key"))
  var keys: [KeyWords]

  func run(on table: Table) throws {
    var misses = Misses()
    var output = OutputBuffer()
    try keys.forEachBatch(zeroTerminated: null) { keys in
      let removed = try table.startingOverWhenFull {
        try table.barrier { tx in try keys.map { try tx.remove($0) } }
      }
      for (key, removed) in zip(keys, removed) {
        if !removed { misses.add(key, options, table, "nothing to remove") }
        guard options.json else { continue }
        var object = JSONObject()
        object.add("key", bytes: key)
        object.add("removed", removed)
        try output.append(object.line)
      }
      try output.flush()
    }
    try misses.end()
  }
}

extension Table {
  /// Runs a barrier again, once, when the table was full, as the library's own single writes do: the failed attempt asked
  /// for gc. A removal needs room, too.
  func startingOverWhenFull<R>(_ attempt: () throws -> R) throws -> R {
    do {
      return try attempt()
    } catch let error as TableError where error.code == .full && error.holder == nil {
      return try attempt()
    }
  }
}
