import ArgumentParser
import SharedTable

struct Drop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Remove a table.",
    discussion: """
      Processes that have it open keep reading what it held; their next write fails. What another user has put under the \
      name is removed only with --trusting, and only by that user or root.
      """)

  @OptionGroup var options: CommonOptions

  @Argument(help: "The table's name.")
  var name: RawArgument

  func validate() throws { try options.refuseTable(for: "drop") }

  func run() throws {
    let trusted = try options.trustedOwners()
    do {
      try Table.drop(name.text, trusting: trusted)
    } catch let error where error.code == .noSuchTable {
      // The library's advice is to create it.
      throw TableError(.noSuchTable, table: name.text, "no such table; 'shmctl tables' lists them")
    }
  }
}
