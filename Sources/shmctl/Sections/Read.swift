import ArgumentParser
import SharedTable

struct Read: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "read", abstract: "Run a command while the table is held for reading.",
    discussion: """
      As flock(1) does with a file. In a table of the rwlock variant no writer changes anything until the command has \
      ended, and others read. In one of the rcu variant it holds up nobody, and the command's 'shmctl get' reads the newest version: use it \
      there for commands that are to do the same for both variants. A snapshot is held meanwhile, which the table's policy for stalled readers \
      ends (evict) when writers need what it keeps; with 'wait' or 'refuse' they wait or fail beyond the limbo budget.

      \(SectionRun.common)
      """)

  @OptionGroup var options: CommonOptions

  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("After --: the command and its arguments.", valueName: "command"))
  var command: [RawArgument]

  func validate() throws { try SectionRun.check(command, "read") }

  func run() throws {
    let table = try options.open()
    let child = SectionRun.child(command, table)
    try SectionRun.end {
      // A section cannot be ended from outside: beyond the limbo budget all writes would fail for as long as the command runs.
      guard RecordScan.mayWait(table) else { return try table.read { _ in try child.run() } }
      return try withExtendedLifetime(try table.snapshot()) { try child.run() }
    }
  }
}
