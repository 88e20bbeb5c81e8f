import ArgumentParser
import Glibc
import SharedTable
import ToolSupport

/// What every command takes, before its name or after it.
struct CommonOptions: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The table; else $SHM_TABLE, else 'default'.", valueName: "name"))
  var table: RawArgument?

  @Option(help: ArgumentHelp("How long a wait may last: 500ms, 30s, 5m, 1h.", valueName: "time"))
  var timeout = TimeSpan(milliseconds: 5000)

  @Flag(help: "Print JSON, one object a line.")
  var json = false

  @Flag(name: .shortAndLong, help: "Say nothing about keys not found and conditions not met: exit 1 says it.")
  var quiet = false

  @Option(
    help: ArgumentHelp(
      "A user whose tables to use, besides root's, shmd's and your own; 'everyone': whoever's, to look at and to drop.",
      valueName: "user"))
  var trusting: [RawArgument] = []

  var tableName: String {
    if let table { return table.text }
    if let value = unsafe getenv("SHM_TABLE"), unsafe value.pointee != 0 { return unsafe String(cString: value) }
    return "default"
  }

  /// Opens the table, as a participant where that is possible.
  func open() throws -> Table { try open(tableName) }

  func open(_ name: String) throws -> Table {
    try Table.open(name, trusting: trustedOwners(), timeout: timeout.duration)
  }

  func trustedOwners() throws -> Table.TrustedOwners {
    let everyone = "everyone"
    if trusting.contains(where: { $0.text == everyone }) {
      guard trusting.count == 1 else { throw Complaint.usage("give '--trusting everyone' alone, or name users") }
      return .everyone
    }
    return .users(
      try trusting.map { user in
        guard let number = try Account.user(user.text) else {
          throw Complaint.usage("there is no user '\(user.shown)'; give a number, or see 'getent passwd'")
        }
        return number
      })
  }

  /// Says that a condition was not met, unless told to be quiet.
  func note(_ table: Table, _ message: String) {
    if !quiet { StandardError.write("table '\(table.name)': \(message)") }
  }

  /// For commands that take the table's name as their argument.
  func refuseTable(for command: String) throws {
    if table != nil { throw ValidationError("'\(command)' takes the table as its argument, not by -t") }
  }
}

/// A command on one table.
protocol TableCommand: ParsableCommand {
  var options: CommonOptions { get }
  func run(on table: Table) throws
}

extension TableCommand {
  func run() throws { try run(on: options.open()) }
}
