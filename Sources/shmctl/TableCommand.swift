import ArgumentParser
import SharedTable

/// A command on one table.
protocol TableCommand: ParsableCommand {
  var options: CommonOptions { get }
  func run(on table: Table) throws
}

extension TableCommand {
  func run() throws { try run(on: options.open()) }
}
