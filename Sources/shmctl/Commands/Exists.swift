import ArgumentParser
import SharedTable
import ToolSupport

struct Exists: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "exists", abstract: "Ask whether keys are there: exit 0 if all are, 1 if any is not.",
    discussion: "Prints nothing; with --json an object for each key.")

  @OptionGroup var options: CommonOptions

  @Argument(help: ArgumentHelp("Keys.", valueName: "key"))
  var keys: [RawArgument]

  func run(on table: Table) throws {
    let present = try table.read { view in try keys.map { try view.contains($0.bytes) } }
    if options.json {
      for (key, present) in zip(keys, present) {
        var object = JSONObject()
        object.add("key", bytes: key.bytes)
        object.add("exists", present)
        try StandardOutput.write(object.line)
      }
    }
    if present.contains(false) { throw ExitStatus.notFound }
  }
}
