import ArgumentParser
import SharedTable
import ToolSupport

struct Count: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Print the number of keys.",
    discussion: "Counts what 'ls' would list, so it looks at the whole table; 'stat' has a quick figure.")

  @OptionGroup var options: CommonOptions

  func run(on table: Table) throws {
    let count = try table.read { view in try view.count() }
    guard options.json else { return try StandardOutput.write(line: String(count)) }
    var object = JSONObject()
    object.add("keys", count)
    try StandardOutput.write(object.line)
  }
}
