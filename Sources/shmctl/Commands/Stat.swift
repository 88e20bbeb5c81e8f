import ArgumentParser
import SharedTable

struct Stat: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stat", abstract: "Print figures about a table and who uses it.",
    discussion: """
      Figures are read one by one while the table lives on. Keys count those expired that nobody removed yet. An \
      observer, who may only read the table, sees fewer of them.
      """)

  @OptionGroup var options: CommonOptions

  func run(on table: Table) throws {
    let statistics = table.statistics
    try StandardOutput.write(options.json ? StatReport.json(table, statistics) : StatReport.text(table, statistics))
  }
}
