import ArgumentParser
import Glibc
import SharedTable
import ToolSupport

struct Create: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Make a table.",
    discussion: """
      Exit 1 if there is one of that name already; with --if-absent exit 0, and the table stays as it is, whatever the other options. \
      A --capacity of more than /dev/shm has free is refused: exit 5.
      """)

  @ParentCommand var root: Shmctl
  @OptionGroup var options: ObjectOptions

  @Argument(help: "1 to 200 letters, digits and . _ - @ : +, not starting with a dot; or give it by -t.")
  var name: RawArgument?

  @Option(help: ArgumentHelp("How readers and writers share it; rcu if not given.", valueName: "rcu|rwlock"))
  var variant: Table.Variant?

  /// The option's former name.
  @Option(help: .hidden)
  var sync: Table.Variant?

  @Option(help: ArgumentHelp("How much it holds: 64MiB, 1GiB, 1048576.", valueName: "bytes"))
  var capacity = ByteCount(bytes: 64 << 20)

  @Option(help: ArgumentHelp("Permission bits in octal: who may read, and write.", valueName: "octal"))
  var mode = Mode(bits: 0o600)

  @Option(help: ArgumentHelp("The group that the mode speaks of, by name or number.", valueName: "group"))
  var group: RawArgument?

  @Option(
    name: .customLong("stalled-reader"),
    help: ArgumentHelp(
      "What happens when readers keep old versions beyond the limbo budget; evict if not given.",
      valueName: "evict|wait|refuse"))
  var stalledReader: Table.StalledReaderPolicy?

  @Option(
    name: .customLong("limbo-budget"),
    help: ArgumentHelp("What readers may keep; a quarter of the capacity if not given.", valueName: "bytes"))
  var limboBudget: ByteCount?

  @Flag(name: .customLong("if-absent"), help: "Take one that is there already as it is: exit 0.")
  var ifAbsent = false

  @Flag(
    name: .customLong("no-huge-pages"),
    help: "Leave a table of 16 MiB and more on small pages, also where the kernel has pages of 2 MiB.")
  var noHugePages = false

  @Flag(help: "Claim the memory of all values now, and keep it: no write finds /dev/shm full.")
  var preallocate = false

  func validate() throws {
    if variant != nil, sync != nil { throw ValidationError("--sync is the former name of --variant; give one of them") }
  }

  func run() throws {
    let name = try options.object(name, root)
    var table = Table.Options(
      variant: variant ?? sync ?? .rcu, capacityBytes: capacity.bytes, mode: mode.bits,
      limboBudgetBytes: limboBudget?.bytes,
      stalledReaderPolicy: stalledReader ?? .evict, preallocate: preallocate, hugePages: !noHugePages)
    if let group {
      guard let number = try Account.group(group.text) else {
        throw Complaint(
          .usage, table: name, "there is no group '\(group.shown)'; give a number, or see 'getent group'")
      }
      table.group = number
    }
    if try !Room.isTaken(name) { try Room.require(capacity, for: name) }
    let made: Table
    do {
      made = try Table.create(name, table, timeout: options.timeout.duration)
    } catch {
      made = try existing(name, error)
      if options.json { try StandardOutput.write(description(of: made).line) }
      return
    }
    if let warning = RemoveIPC.warning { StandardError.write("table '\(made.name)': warning: \(warning)") }
    if options.json { try StandardOutput.write(description(of: made).line) }
  }

  /// The table that is there already, if that will do; else why none was made.
  private func existing(_ name: String, _ error: TableError) throws -> Table {
    switch error.code {
    case .notPermitted where error.errno == EPERM:
      guard let group else { throw error }
      throw Complaint(
        .notPermitted, table: name,
        "not permitted: the system does not let you give a table to group '\(group.shown)'; only its members and root can ('id' shows your groups)"
      )
    case .exists where ifAbsent: return try options.open(name)
    case .exists where options.quiet: throw ExitStatus.notFound
    case .exists:
      throw Complaint(
        .notFound, table: name,
        "exists already; nothing was made ('shmctl create --if-absent' takes the one that is there, 'shmctl drop' removes it)"
      )
    case .invalid:
      let units = capacity.bytes % 1000 == 0 ? "1MB is 1000000 bytes, 1MiB 1048576; " : ""
      throw Complaint(.usage, table: name, "\(error.message); \(units)see 'shmctl create --help'")
    default: throw error
    }
  }

  private func description(of table: Table) -> JSONObject {
    var object = JSONObject()
    object.add("table", table.name)
    object.add("variant", "\(table.variant)")
    object.add("capacityBytes", table.capacityBytes)
    return object
  }
}
