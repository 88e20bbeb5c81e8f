import ArgumentParser
import SharedTable
import ToolSupport

struct Exists: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "exists", abstract: "Ask whether keys are there: exit 0 if all are, 1 if any is not.",
    discussion: "Prints nothing; with --json an object for each key. A key '-' stands for keys on standard input.")

  @OptionGroup var options: CommonOptions

  @Flag(name: .customShort("0"), help: "Keys on standard input end with a zero byte.")
  var null = false

  @Argument(help: ArgumentHelp("Keys, or - for those on standard input.", valueName: "key"))
  var keys: [KeyWords]

  func run(on table: Table) throws {
    var output = OutputBuffer()
    var areAllThere = true
    try keys.forEachBatch(zeroTerminated: null) { keys in
      let present = try table.read { view in try keys.map { try view.contains($0) } }
      if present.contains(false) { areAllThere = false }
      guard options.json else { return }
      for (key, present) in zip(keys, present) {
        var object = JSONObject()
        object.add("key", bytes: [UInt8](key))
        object.add("exists", present)
        try output.append(object.line)
      }
      try output.flush()
    }
    if !areAllThere { throw ExitStatus.notFound }
  }
}
