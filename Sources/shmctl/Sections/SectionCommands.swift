import ArgumentParser
import Glibc
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

struct Barrier: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "barrier", abstract: "Run a command while nobody else writes the table, or some of its keys.",
    discussion: """
      As flock(1) does with a file. With --keys only barriers and writes that use one of the keys wait, or a key below it \
      (KEY/…). The command may read the table (rcu variant; in the rwlock variant a barrier of the whole table excludes \
      readers, the command too). It cannot write what is held: it is another process, and its writes time out and name \
      this one. To change several keys at once, use 'shmctl transaction'.

      \(SectionRun.common)

      EXAMPLES
        shmctl barrier -t jobs --keys nightly --timeout 1h -- ./nightly-job
        shmctl barrier -t jobs -- sh -c 'shmctl dump -t jobs -o jobs.dump'
      """)

  @OptionGroup var options: CommonOptions

  @Option(help: ArgumentHelp("Keys to hold, with commas between them.", valueName: "key,key"))
  var keys: [RawArgument] = []

  @Option(help: ArgumentHelp("A key to hold, whatever it contains; may be repeated.", valueName: "key"))
  var key: [RawArgument] = []

  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("After --: the command and its arguments.", valueName: "command"))
  var command: [RawArgument]

  func validate() throws {
    try SectionRun.check(command, "barrier")
    // As of a variable that is empty: the whole table is not what was meant.
    if lists.contains(where: \.isEmpty) {
      throw ValidationError("--keys names no key; name one, or leave it out to hold the whole table")
    }
  }

  private var lists: [[[UInt8]]] { keys.map { $0.bytes.split(separator: UInt8(ascii: ",")).map(Array.init) } }

  func run() throws {
    let table = try options.open()
    let child = SectionRun.child(command, table)
    let locked = lists.flatMap(\.self) + key.map(\.bytes)
    try SectionRun.end {
      if locked.isEmpty { return try table.barrier { _ in try child.run() } }
      return try table.barrier(keys: locked) { _ in try child.run() }
    }
  }
}

/// What `read` and `barrier` have in common.
enum SectionRun {
  static let common = """
    The wait for the table lasts --timeout at most (exit 7, naming who holds it), and Ctrl-C and SIGTERM end it with \
    shmctl. The exit status is the command's, or 128 and the number of the signal that ended it; 126 and 127 if it \
    cannot be run. $SHM_TABLE is the table for it. Once it runs, Ctrl-C and SIGTERM end the command, then the section. If \
    shmctl itself is killed (SIGKILL), the table is free at once though the command goes on.
    """

  static func check(_ command: [RawArgument], _ name: String) throws {
    if command.isEmpty { throw ValidationError("Give the command after '--': shmctl \(name) -- COMMAND") }
  }

  static func child(_ command: [RawArgument], _ table: Table) -> ChildCommand {
    ChildCommand(
      ChildProcess(words: command.map(\.bytes), additions: [("SHM_TABLE", Array(table.name.utf8))]))
  }

  /// Ends with the command's status, after the section has ended.
  static func end(_ section: () throws -> Int32) throws {
    do {
      let status = try section()
      if status != 0 { exit(status) }
    } catch let error as ChildProcess.CannotStart {
      StandardError.write(error.message)
      exit(error.status)
    }
  }
}
