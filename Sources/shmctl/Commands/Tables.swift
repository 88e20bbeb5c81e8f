import ArgumentParser
import SharedTable

struct Tables: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "tables", abstract: "List the tables of this host.")

  @OptionGroup var options: CommonOptions

  func run() throws {
    var output: [UInt8] = []
    for name in try Table.list() {
      if options.json {
        var object = JSONObject()
        object.add("table", name)
        output += object.line
      } else {
        output += Array("\(StandardError.printable(name))\n".utf8)
      }
    }
    try StandardOutput.write(output)
  }
}
