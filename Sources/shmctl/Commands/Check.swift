import ArgumentParser
import SharedTable
import ToolSupport

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check a table from end to end: exit 0 if it is sound, 9 if it is damaged.",
    discussion: """
      Prints what is wrong, a line each, and nothing if nothing is. Repairs after a dead writer first, as every write \
      does; changes nothing else. Writers wait meanwhile, in the rwlock variant readers too; the time grows with the table.
      """)

  @OptionGroup var options: CommonOptions

  @Argument(help: "The table's name; or give it by -t.")
  var name: RawArgument?

  func run() throws {
    let table = try options.open(options.object(name))
    let problems = try table.check(timeout: options.timeout.duration)
    if options.json {
      var object = JSONObject()
      object.add("table", table.name)
      object.add("sound", problems.isEmpty)
      object.add("problems", strings: problems)
      try StandardOutput.write(object.line)
    } else {
      for problem in problems { try StandardOutput.write(line: StandardError.printable(problem)) }
    }
    guard problems.isEmpty else {
      throw Complaint(
        .damaged, table: table.name,
        "damaged, problems found: \(problems.count); 'shmctl repair --dry-run \(table.name)' shows what a repair would cost"
      )
    }
  }
}
