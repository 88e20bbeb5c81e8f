import ArgumentParser
import Glibc
import SharedTable
import TableDump
import ToolSupport

struct Resize: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resize",
    abstract: "Put a table's contents into a new table of the same name and another capacity or variant.",
    discussion: """
      No writer changes the table meanwhile. Processes that have it open cannot be moved to the new one: they go on \
      reading what the old one held, and their next write fails with 'unlinked' until they open it again. So it waits until no \
      other process takes part in the table (those that only observe are not noticed), and is refused after --timeout, unless --force is given. Owner, group, mode, policy for stalled readers and how its memory is claimed stay. \
      The new table is there with all it holds, or not yet: a program that opens it meanwhile waits, or gets 'timedOut'. A copy under the name NAME.resize.PID stands until \
      the new table is whole; Ctrl-C, SIGTERM and SIGHUP remove it. If this command is killed otherwise, look at NAME: where it is as it was, or the new one already, 'shmctl \
      drop' the copy, which may be a part; where it is gone, 'shmctl copy' the copy back, which keeps rights and options too ('shmctl doctor' says \
      which). /dev/shm needs room for the old table, the copy and the new one at once; without it nothing changes. A --capacity that it could \
      never hold is refused. For a table that shmd keeps, \
      change its capacity in shmd's configuration instead. One that it stores is refused without --force: shmd would not store the new one.

      EXAMPLES
        shmctl resize settings --capacity 1GiB
        shmctl resize settings --variant rwlock --force
      """)

  @OptionGroup var options: CommonOptions

  @Option(help: ArgumentHelp("How much the new table holds.", valueName: "bytes"))
  var capacity: ByteCount?

  @Option(help: ArgumentHelp("The new table's variant.", valueName: "rcu|rwlock"))
  var variant: Table.Variant?

  @Flag(help: "Also while other processes have the table open.")
  var force = false

  @Argument(help: "The table's name.")
  var name: RawArgument

  func validate() throws {
    try options.refuseTable(for: "resize")
    if capacity == nil, variant == nil { throw ValidationError("Give --capacity, --variant, or both") }
  }

  func run() throws {
    let table = try options.open(name.text)
    let wanted = try newOptions(table)
    try refuseStored(table)
    if let capacity, capacity.bytes > table.capacityBytes {
      try Room.require(capacity, for: table.name, freed: table.administration.claimedBytes)
    }
    try refuseUsers(of: table)
    // Once its name is gone, shmd may let go of it at any time.
    let wasStored = table.isStored
    let signals = HeldSignals()
    defer { signals.release() }
    try table.barrier(timeout: options.timeout.duration) { tx in
      // Here and not before: who waits for the barrier can be ended at once.
      signals.hold()
      try replace(table, wanted, tx, signals)
    }
    guard wasStored else { return }
    StandardError.write(
      "table '\(table.name)': warning: shmd does not store it while the store of the table before is there; move "
        + "'\(table.name).N.sqlite' and its '-wal' away, and it does")
  }

  /// A store belongs to one table, and shmd leaves it alone if another one has its name.
  private func refuseStored(_ table: Table) throws {
    guard table.isStored, !force else { return }
    throw Complaint(
      .failure, table: table.name,
      "shmd stores it, and would not store the new one; give the capacity or variant in shmd's configuration instead, for which "
        + "'shmd --check' says how to go on, or give --force")
  }

  private func newOptions(_ table: Table) throws -> Table.Options {
    var wanted = try ResizeCopy.options(for: table)
    if let variant { wanted.variant = variant }
    if let capacity { wanted.setCapacity(capacity) }
    return wanted
  }

  /// Waits for them: a command that only looks, such as `tables --long`, uses every table of the host for a moment.
  private func refuseUsers(of table: Table) throws {
    guard !force else { return }
    let end = ContinuousClock.now + options.timeout.duration
    while let one = table.statistics.readers.map(\.holder).first(where: { $0.pid != getpid() }) {
      guard ContinuousClock.now < end else {
        let advice =
          one.command == "shmd"
          ? "keeps it: change its capacity in shmd's configuration, and run what 'shmd --check' prints; or give --force"
          : "has it open and would go on with the old table; end it, or give --force"
        throw Complaint(.timedOut, table: table.name, "\(one.command), pid \(one.pid), \(advice)")
      }
      Pause.sleep(.milliseconds(10))
    }
  }

  /// Makes the new table by way of a copy, while the old one is held.
  private func replace(
    _ table: Table, _ wanted: Table.Options, _ tx: borrowing Transaction, _ signals: HeldSignals
  ) throws {
    let copy = try makeCopy(of: table, wanted)
    var isOldOneGone = false
    do {
      try fill(copy, from: tx, of: table, signals)
      try requireRoom(for: wanted, copy, table)
      try exchange(table, wanted, copy, &isOldOneGone)
    } catch {
      // Unless this process has taken the old one's name away, the copy is of no use.
      if !isOldOneGone { try? Table.drop(copy.name, trusting: options.trustedOwners()) }
      throw error
    }
    // The copy belongs to the table's owner, who may be another user than this one.
    try Table.drop(copy.name, trusting: options.trustedOwners())
  }

  private func makeCopy(of table: Table, _ wanted: Table.Options) throws -> Table {
    let name = ResizeCopy.name(of: table.name, madeBy: getpid())
    var claimedAsItFills = wanted
    // The new table will need that memory.
    claimedAsItFills.preallocate = false
    do {
      let copy = try Table.create(name, claimedAsItFills, timeout: options.timeout.duration)
      if wanted.preallocate { copy.keepMemory() }
      return copy
    } catch {
      // Here rather than half-way: a name that is too long, a capacity that cannot be.
      throw Complaint(ExitStatus(error.code), table: table.name, "its copy '\(name)' cannot be made: \(error.message)")
    }
  }

  /// Refuses a new table for which /dev/shm has no room, as long as the old one has its name. The old one gives nothing back: this process has
  /// it mapped.
  private func requireRoom(for wanted: Table.Options, _ copy: Table, _ table: Table) throws {
    guard let free = try Table.freeBytes() else { return }
    let needed = try wanted.bytesClaimed(holding: copy)
    guard needed > free else { return }
    throw Complaint(
      .full, table: table.name,
      "/dev/shm has room for \(ByteCount(bytes: free)) beside the table and its copy, and the new table takes \(ByteCount(bytes: needed)); "
        + "nothing has changed; free some, or enlarge the file system")
  }

  /// Takes the old table's name away, and makes the new one of the copy.
  private func exchange(_ table: Table, _ wanted: Table.Options, _ copy: Table, _ isOldOneGone: inout Bool) throws {
    do {
      try Table.drop(table.name, trusting: options.trustedOwners())
      isOldOneGone = true
    } catch {
      // One of its names may be gone all the same. Then the copy alone has the contents.
      isOldOneGone = !table.administration.isNamed
      guard isOldOneGone else { throw error }
      throw Complaint(.failure, table: table.name, "\(error); \(Self.whereItsContentsAre(copy, table))")
    }
    do {
      // Whole at once: a program that opens it anew may write at once, and no older value may come after that.
      _ = try Table.create(
        table.name, wanted, holding: copy, version: table.version + 1, timeout: options.timeout.duration)
    } catch {
      throw Complaint(
        .failure, table: table.name,
        error.code == .exists
          ? "\(error); its contents are whole in table '\(copy.name)'; a program has made '\(table.name)' anew meanwhile: look which "
            + "values you want, and 'shmctl copy' or 'drop' the copy"
          : "\(error); \(Self.whereItsContentsAre(copy, table))")
    }
  }

  private static func whereItsContentsAre(_ copy: Table, _ table: Table) -> String {
    "its contents are whole in table '\(copy.name)'; 'shmctl copy \(copy.name) \(table.name)' brings them back, with its rights "
      + "and options"
  }

  private func fill(
    _ copy: Table, from tx: borrowing Transaction, of table: Table, _ signals: HeldSignals
  ) throws {
    var load = RecordLoad(copy, .overwrite)
    var batch = DumpBatch()
    func apply() throws {
      guard !signals.areWaiting else {
        throw Complaint(.failure, table: table.name, "a signal ends the resize; nothing has changed")
      }
      do { try load.apply(batch) } catch let error as TableError where [.full, .tooLarge].contains(error.code) {
        throw Complaint(
          ExitStatus(error.code), table: table.name,
          error.errno == nil
            ? "its contents do not fit into \(ByteCount(bytes: copy.capacityBytes)) (variant \(copy.variant)); nothing has changed; give "
              + "more --capacity, or remove keys"
            : "\(error.message); nothing has changed")
      }
      batch.removeAll()
    }
    try tx.forEachRecord { record in
      batch.append(record)
      if batch.isFull { try apply() }
    }
    try apply()
  }
}
