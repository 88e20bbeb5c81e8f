import ArgumentParser
import SharedTable
import TableDump
import ToolSupport

struct Copy: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copy a table, or a part of it, into another one.",
    discussion: """
      One version of the source, as 'dump | load' would. A table that is not there is made, with the source's variant and \
      capacity unless others are given, for this user alone (mode 600), and removed again if it cannot take all; if this \
      command is killed, a part stays. What a killed 'resize' has left (NAME.resize.PID) goes back to NAME with the rights and options that \
      NAME had. In one that is there keys are overwritten, or with --if-absent left, and its other keys stay. A collection that it \
      has already is not mixed with the source's: without --force that is refused, and nothing copied.

      EXAMPLES
        shmctl copy settings settings.old
        shmctl copy settings larger --capacity 1GiB
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Leave keys that are there as they are.")
  var ifAbsent = false

  @Option(help: ArgumentHelp("Only keys that begin with this.", valueName: "prefix"))
  var prefix: RawArgument?

  @Option(
    help: ArgumentHelp("Capacity of the target, if it is made; at most what /dev/shm has free.", valueName: "bytes"))
  var capacity: ByteCount?

  @Option(help: ArgumentHelp("Variant of the target, if it is made.", valueName: "rcu|rwlock"))
  var variant: Table.Variant?

  @Flag(help: "Allow keys of a collection that the target has; this damages the collection.")
  var force = false

  @Argument(help: "The table to copy.")
  var source: RawArgument

  @Argument(help: "The table to copy into.")
  var target: RawArgument

  func validate() throws {
    try options.refuseTable(for: "copy")
    if source.bytes == target.bytes { throw ValidationError("Source and target are the same table") }
  }

  func run() throws {
    let source = try options.open(source.text)
    let (target, isMade) = try openTarget(like: source)
    var load = RecordLoad(target, ifAbsent ? .keep : .overwrite)
    var mixed: MixedCollections?
    if !isMade, !force { mixed = MixedCollections(with: target, load.rule, advice: "or give --force") }
    do {
      try RecordCopy.run(from: source, prefix: prefix?.bytes ?? [], to: &load, mixed, quiet: options.quiet)
      if isMade, goesBack(source) {
        try target.administration.setRights(source.administration.rights())
      }
    } catch {
      guard isMade else { throw Complaint(error, target.name, "\(load.done) records are copied") }
      // A part of a table under a name of its own would be taken for the whole.
      if target.administration.isNamed { try Table.drop(target.name, trusting: options.trustedOwners()) }
      throw Complaint(error, target.name, "the table that was made for it is removed")
    }
    try LoadReport(load).report(options, target)
  }

  /// Does the target get its rights and options back from the source, which a killed `resize` has left of it? An observer cannot see them.
  private func goesBack(_ source: Table) -> Bool {
    !source.isObserver && ResizeCopy.parts(of: source.name)?.table == target.text
  }

  /// The table to copy into, and whether it was made for that.
  private func openTarget(like source: Table) throws -> (Table, isMade: Bool) {
    var wanted = Table.Options(variant: source.variant, capacityBytes: source.capacityBytes)
    if goesBack(source) { wanted = try ResizeCopy.options(for: source) }
    // Until it is whole, no other user opens it and takes a part for the whole.
    (wanted.mode, wanted.owner, wanted.group) = (0o600, nil, nil)
    if let variant { wanted.variant = variant }
    if let capacity { wanted.setCapacity(capacity) }
    if let capacity, try !Room.isTaken(target.text) { try Room.require(capacity, for: target.text) }
    do {
      let made = try Table.create(target.text, wanted, timeout: options.timeout.duration)
      return (made, true)
    } catch {
      guard [.exists, .foreign].contains(error.code) else { throw error }
    }
    let found = try Table.openOrCreate(
      target.text, wanted, trusting: options.trustedOwners(), timeout: options.timeout.duration)
    // Rounded up when it was made.
    let isAsWanted =
      variant.map { $0 == found.variant } ?? true
      && capacity.map { (0..<(1 << 20)).contains(found.capacityBytes - $0.bytes) } ?? true
    guard isAsWanted else {
      throw Complaint.usage(
        "table '\(found.name)' exists, with the variant \(found.variant) and a capacity of \(ByteCount(bytes: found.capacityBytes)); "
          + "leave out --variant and --capacity, or change it by 'shmctl resize'")
    }
    return (found, false)
  }
}
