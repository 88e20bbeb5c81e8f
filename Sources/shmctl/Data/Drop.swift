import ArgumentParser
import SharedTable

struct Drop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Remove a table.",
    discussion: """
      Processes that have it open keep reading what it held; their next write fails. What another user has put under the \
      name is removed only with --trust, and only by that user or root.
      """)

  @ParentCommand var root: Shmctl
  @OptionGroup var options: ObjectOptions

  @Argument(help: "The table's name; or give it by -t.")
  var name: RawArgument?

  func run() throws {
    let name = try options.object(name, root)
    let trusted = try options.trustedOwners()
    do {
      try Table.drop(name, trusting: trusted)
    } catch {
      switch error.code {
      // The library's advice is to create it.
      case .noSuchTable: throw TableError(.noSuchTable, table: name, "no such table; 'shmctl tables' lists them")
      // The rights to what is in it do not count.
      case .notPermitted:
        throw Complaint(.notPermitted, table: name, "\(error.message); only its owner or root can drop it")
      default: throw error
      }
    }
  }
}
