import ArgumentParser
import SharedTable
import ToolSupport

struct Tables: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tables", abstract: "List the tables of this host.",
    discussion: "Behind a name that belongs to a user whom you do not trust (--trust) stands a tab, and whose it is."
  )

  @OptionGroup var options: CommonOptions

  func run() throws {
    var output: [UInt8] = []
    let trusted = try options.trustedOwners()
    for name in try Table.list() {
      let foreign = try Table.foreignOwner(of: name, trusting: trusted)
      if options.json {
        var object = JSONObject()
        object.add("table", name)
        if let foreign { object.add(foreignOwner: foreign) }
        output += object.line
      } else {
        let whose = foreign.map { "\tforeign: " + StandardError.printable("\($0)") } ?? ""
        output += Array("\(name)\(whose)\n".utf8)
      }
    }
    try StandardOutput.write(output)
  }
}
