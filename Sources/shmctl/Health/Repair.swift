import ArgumentParser
import SharedTable
import ToolSupport

struct Repair: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair", abstract: "Repair a damaged table: keep what is provably whole, and say what is given up.",
    discussion: """
      For damage that no crash explains: it is not needed after a crash. Does nothing to a sound table. Prints a line \
      for each key or place that is given up. Processes that have the table open go on using it; long snapshots end. \
      Writers wait meanwhile, in the rwlock variant readers too. If it is killed, run it again. \
      If shmd stores the table, it removes from the store, too, what is given up; 'shmctl drop' has it bring the table \
      back from there instead. Exit 0 if the table is sound afterwards, 9 if it is not, or with --dry-run if it would \
      have to be repaired.
      """)

  @ParentCommand var root: Shmctl
  @OptionGroup var options: ObjectOptions

  @Flag(help: "Change nothing, and print what would be given up.")
  var dryRun = false

  @Flag(help: "Repair even if more than half of the keys have to be given up.")
  var force = false

  @Argument(help: "The table's name; or give it by -t.")
  var name: RawArgument?

  func run() throws {
    let table = try options.open(options.object(name, root))
    let report = try repair(table)
    if options.json {
      try StandardOutput.write(description(of: table, report).line)
    } else {
      for loss in report.losses { try StandardOutput.write(line: StandardError.printable("given up: \(loss)")) }
      if report.isRepaired {
        try StandardOutput.write(line: "repaired: \(report.keptCount) keys kept, \(report.droppedCount) given up")
      }
    }
    if !report.isRepaired, let problem = report.problems.first {
      throw Complaint(
        .damaged, table: table.name,
        "damaged: \(problem)\(table.adviceIfStored); 'shmctl repair \(table.name)' would keep \(report.keptCount) keys")
    }
  }

  private func repair(_ table: Table) throws -> Table.RepairReport {
    do {
      return try table.repair(timeout: options.timeout.duration, dryRun: dryRun, force: force)
    } catch {
      guard error.code == .damaged else { throw error }
      throw Complaint(.damaged, table: table.name, error.message + table.adviceIfStored)
    }
  }

  private func description(of table: Table, _ report: Table.RepairReport) -> JSONObject {
    var object = JSONObject()
    object.add("table", table.name)
    object.add("repaired", report.isRepaired)
    object.add("kept", report.keptCount)
    object.add("givenUp", report.droppedCount)
    object.add("losses", strings: report.losses)
    object.add("problems", strings: report.problems)
    return object
  }
}
