import ArgumentParser
import SharedTable

struct Stat: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stat", abstract: "Print figures about a table and who uses it.",
    discussion: """
      Figures are read one by one while the table lives on. Keys count those expired that nobody removed yet. An \
      observer, who may only read the table, sees fewer of them. Of a table whose owner you do not trust (--trust) it \
      says only whose it is.
      """)

  @OptionGroup var options: CommonOptions

  func run() throws {
    let table: Table
    do {
      table = try options.open()
    } catch let error as TableError where error.code == .foreign {
      let (name, owner) = (options.tableName, error.owner)
      return try StandardOutput.write(
        options.json ? StatReport.json(foreign: name, owner) : StatReport.text(foreign: name, owner))
    }
    try run(on: table)
  }

  func run(on table: Table) throws {
    let statistics = table.statistics
    try StandardOutput.write(options.json ? StatReport.json(table, statistics) : StatReport.text(table, statistics))
  }
}
