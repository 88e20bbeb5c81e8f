import ArgumentParser
import SharedTable
import ToolSupport

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check a table from end to end: exit 0 if it is sound, 9 if it is damaged.",
    discussion: """
      Prints what is wrong, a line each, and nothing if nothing is: with the table itself, and if that is sound with the \
      collections in it (a key removed or stored behind a collection's back, which 'repair' does not mend). Recovers after a dead writer first, as every write \
      does; changes nothing else. Writers wait meanwhile, in the rwlock variant readers too; the time grows with the table.
      """)

  @ParentCommand var root: Shmctl
  @OptionGroup var options: ObjectOptions

  @Argument(help: "The table's name; or give it by -t.")
  var name: RawArgument?

  func run() throws {
    let table = try options.open(options.object(name, root))
    let problems = try table.check(timeout: options.timeout.duration)
    let collections = problems.isEmpty ? try table.checkCollections(timeout: options.timeout.duration) : []
    if options.json {
      var object = JSONObject()
      object.add("table", table.name)
      object.add("sound", problems.isEmpty && collections.isEmpty)
      object.add("problems", strings: problems)
      object.add("collectionProblems", strings: collections)
      try StandardOutput.write(object.line)
    } else {
      for problem in problems + collections { try StandardOutput.write(line: StandardError.printable(problem)) }
    }
    guard problems.isEmpty else {
      throw Complaint(
        .damaged, table: table.name,
        "damaged, problems found: \(problems.count)\(table.adviceIfStored)"
          + "; 'shmctl repair --dry-run \(table.name)' shows what a repair would cost")
    }
    guard collections.isEmpty else {
      throw Complaint(
        .damaged, table: table.name,
        "the table is sound, problems found in collections: \(collections.count); let a program empty and fill those anew"
      )
    }
  }
}
