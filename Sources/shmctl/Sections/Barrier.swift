import ArgumentParser
import SharedTable

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
