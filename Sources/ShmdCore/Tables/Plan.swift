import SharedMemory
import SharedTable
import TableEngine
import TableStore
import ToolSupport

/// What a configuration asks of the host, found out before anything is changed.
///
/// Every reason to refuse that can be seen beforehand is a problem with a line; so a refused configuration has
/// changed nothing.
struct Plan {
  /// One configured table, and what is there now.
  enum Step {
    case create(TableConfiguration)
    /// It lives; settings that can change online may differ. Changes that it cannot take are refused: it stays as it is.
    case keep(TableConfiguration, Table, refused: [Problem])
    /// It cannot be had just now. No reason to refuse the rest: anybody could stop the daemon by that.
    case wait(TableConfiguration, TableError)
  }

  let configuration: Configuration
  private(set) var steps: [Step] = []
  /// Why the configuration is refused whole.
  private(set) var problems: [Problem] = []
  /// What goes, and may not be what was meant.
  private(set) var warnings: [Problem] = []

  /// Looks at every table of the configuration.
  /// - Parameters:
  ///   - access: a daemon takes part; `--check` only observes, and changes nothing.
  ///   - inCare: the tables that the daemon keeps. One whose name still leads to it is not opened again: it stays in care, whoever owns it and
  ///     whatever the file says.
  ///   - beat: called after each table: to look may mean to wait.
  init(_ configuration: Configuration, access: Table.Access, inCare: [Table] = [], beat: () -> Void = {}) {
    self.configuration = configuration
    let known = Dictionary(inCare.map { ($0.name, $0) }) { first, _ in first }
    for table in configuration.tables {
      defer { beat() }
      let inCare = known[table.name].flatMap { $0.administration.isNamed ? $0 : nil }
      switch inCare.map(Result.success) ?? Self.find(table, access) {
      case .success(let found?):
        steps.append(.keep(table, found, refused: refusals(table, found)))
        if let rights = try? found.administration.rights() {
          checkAccounts(table, owner: rights.owner, group: rights.group)
        }
        if inCare != nil { lookAtOwner(of: found, table) }
        if access == .observer { compareRights(of: found, table) }
      case .success(nil):
        steps.append(.create(table))
        checkAccounts(table, owner: Accounts.effectiveUser, group: nil)
      case .failure(let error):
        steps.append(.wait(table, error))
      }
    }
    compareWithRoom()
    lookAtStores()
  }

  /// The running table of a configuration, nil if there is none.
  private static func find(
    _ table: TableConfiguration, _ access: Table.Access
  ) -> Result<Table?, TableError> {
    do throws(TableError) {
      if access == .participant { try requireDescriptors(table.name) }
      let found = try Table.open(
        table.name, access: access, trusting: .users(table.options.owner.map { [$0] } ?? []), timeout: .seconds(1))
      if access == .observer {
        // A creator that died just before the end left data that an observer can open, and a table that no participant opens.
        if UnfinishedTable.lies(under: table.name) { return .success(nil) }
        try checkRights(table.name)
      }
      return .success(found)
    } catch {
      if error.code == .noSuchTable { return .success(nil) }
      // Whoever creates the table removes what a creator that died left, and waits for one that lives.
      if error.code == .notATable, UnfinishedTable.lies(under: table.name) { return .success(nil) }
      return .failure(error)
    }
  }

  /// A daemon without any descriptor left would be ended by libdispatch.
  static func requireDescriptors(_ name: String) throws(TableError) {
    if HostProcess.hasDescriptorReserve { return }
    throw TableError(
      .system, table: name,
      "fewer than \(HostProcess.descriptorReserve) of shmd's descriptors are free; raise the hard limit (ulimit -Hn, LimitNOFILE=)"
    )
  }

  /// Refuses a table that claims all of its pages at once where they are not free, before any is claimed: the daemon tries again in each
  /// round, and would take from others all that is free, and zero it, each time. What a dead creator left goes only when the table is made.
  /// - Parameter room: otherwise than the host's, for tests.
  static func requireRoom(for table: TableConfiguration, in room: Int? = nil) throws(TableError) {
    guard table.options.preallocate, let free = room ?? (try? SharedMemoryRoom())??.freeBytes else { return }
    let capacity = table.options.capacityBytes
    let wanted = Geometry(capacityBytes: capacity).preallocatedBytes
    guard wanted > free, !UnfinishedTable.lies(under: table.name) else { return }
    throw TableError(
      .full, table: table.name,
      "/dev/shm has room for \(ByteCount(bytes: free)), and 'preallocate' asks for \(Scalars.describe(capacity)), with the bookkeeping "
        + "\(ByteCount(bytes: wanted)); give less, free some, or enlarge it")
  }

  /// Whether this user could take part, found out without doing so.
  private static func checkRights(_ name: String) throws(TableError) {
    for object in [ObjectName.control(name), ObjectName.data(name)] {
      do throws(SystemError) {
        _ = try SharedObject.open(name: object, writable: true)
      } catch {
        throw TableError(.notPermitted, table: name, "/dev/shm/\(object) cannot be opened for writing: \(error)")
      }
    }
  }

  private mutating func complain(_ table: TableConfiguration, _ key: TableKeyword, _ message: String) {
    problems.append(problem(table, key, message))
  }

  func problem(_ table: TableConfiguration, _ key: TableKeyword, _ message: String) -> Problem {
    Problem(file: table.file, line: table.line(key), "table '\(table.name)': \(message)")
  }

  // MARK: - Room

  /// A capacity is a limit and not a claim, and /dev/shm can be enlarged; so more than it has is worth a word only.
  private mutating func compareWithRoom() {
    guard let total = (try? SharedMemoryRoom())??.totalBytes else { return }
    let shown = "\(ByteCount(bytes: total))"
    let cure = "give less, or enlarge it: mount -o remount,size=BYTES /dev/shm"
    let tooLarge = configuration.tables.filter { $0.options.capacityBytes > total }
    for table in tooLarge {
      let capacity = Scalars.describe(table.options.capacityBytes)
      warnings.append(
        problem(
          table, .capacity,
          "warning: a capacity of \(capacity) is more than /dev/shm has (\(shown)): writes find that full first; \(cure)"
        ))
    }
    let sum = configuration.tables.reduce(0.0) { $0 + Double($1.options.capacityBytes) }
    if tooLarge.isEmpty, sum > Double(total) {
      let all = ByteCount(bytes: Int(min(sum, 0x1p62)))
      warnings.append(
        Problem(
          file: configuration.file, line: nil,
          "warning: the tables' capacities are \(all) together, and /dev/shm has \(shown); \(cure)"))
    }
  }

  // MARK: - Stores

  /// Names of the tables that are to be stored.
  private var storedNames: [String] { configuration.tables.filter { $0.durability != .none }.map(\.name) }

  /// Where the stores lie, if there are to be any.
  private var stores: StoreDirectory? { storedNames.isEmpty ? nil : StoreDirectory(configuration.storeDirectory) }

  func storeProblem(_ message: String) -> Problem {
    let source = configuration.sources[.storeDirectory]
    return Problem(file: source?.file ?? configuration.file, line: source?.line, message)
  }

  private mutating func lookAtStores() {
    guard let stores else { return }
    if stores.isInMemory {
      warnings.append(
        storeProblem(
          "warning: \(stores.path) lies in memory, which a reboot empties; name a directory on a disk by 'store-directory'"
        ))
    } else if stores.obstacle == nil, stores.isReadableByOthers {
      warnings.append(
        storeProblem("warning: \(stores.path) can be read by its group or by others; \(stores.cureForReaders)"))
    }
  }

  /// Why nothing can be stored. The default directory may be missing: the service manager makes it.
  private var storeObstacle: Problem? {
    guard let stores, let obstacle = stores.obstacle else { return nil }
    if configuration.sources[.storeDirectory] == nil, !HostFile.exists(stores.path) { return nil }
    return storeProblem("\(storedNames.joined(separator: ", ")) cannot be stored: \(obstacle)")
  }

  // MARK: - What a check says

  /// What is not done to tables that live.
  var refusedChanges: [Problem] {
    steps.flatMap { step in
      guard case .keep(_, _, let refused) = step else { return [Problem]() }
      return refused
    }
  }

  /// Names that strangers have: worth a word. Anybody could make a check fail otherwise.
  var strangers: [Problem] {
    steps.compactMap { step in
      guard case .wait(let table, let error) = step, error.code == .foreign else { return nil }
      return problem(table, .name, "warning: \(error.message)")
    }
  }

  /// Tables whose making was not finished, so the start makes them.
  var unfinished: [Problem] {
    steps.compactMap { step in
      guard case .create(let table) = step, UnfinishedTable.lies(under: table.name) else { return nil }
      return problem(
        table, .name,
        "warning: a process began to make it and did not finish; unless that process still makes it, the daemon removes what it "
          + "left and makes it anew" + (table.durability.mode == nil ? "" : ", with what its store holds"))
    }
  }

  /// Why tables cannot be had or stored, as far as that can be seen without making them.
  var obstacles: [Problem] {
    tableObstacles + (storeObstacle.map { [$0] } ?? [])
  }

  private var tableObstacles: [Problem] {
    steps.compactMap { step in
      switch step {
      case .wait(let table, let error) where error.code != .foreign:
        problem(table, .name, "cannot be had: \(table.trouble(error).message)")
      case .create(let table):
        obstacle(to: table).map { problem(table, .preallocate, "cannot be had: \(table.trouble($0).message)") }
      default: nil
      }
    }
  }

  private func obstacle(to table: TableConfiguration) -> TableError? {
    // There is no data object, or the table would have been found.
    if (try? SharedObject.look(at: ObjectName.control(table.name))) != nil, !UnfinishedTable.lies(under: table.name) {
      return TableError(.exists, table: table.name, "")
    }
    do throws(TableError) { try Self.requireRoom(for: table) } catch { return error }
    return nil
  }

  // MARK: - Running tables

  /// A living table is never silently another than the file says.
  private func refusals(_ table: TableConfiguration, _ found: Table) -> [Problem] {
    var refusals: [Problem] = []
    if found.variant != table.options.variant {
      let difference = "lives as \(found.variant), and the file says \(table.options.variant)"
      refusals.append(refusal(table, found, .variant, difference))
    }
    if found.isMirror != (table.upstream != nil) {
      let difference =
        found.isMirror
        ? "lives as the mirror of another store, and the file says that it is none"
        : "lives as a table of its own, and the file says that it mirrors another store"
      let isStored = table.durability.mode != nil
      let advice =
        (isStored ? reasonNotToDrop(found) : nil)
        ?? "To make it anew, \(isStored ? "with what its store holds" : "empty"), run: systemctl reload shmd && "
        + "shmctl drop\(trust(table, found)) \(table.name) && systemctl reload shmd"
      refusals.append(problem(table, .upstream, "\(difference); it stays as it is. \(advice)"))
    }
    let unit = Geometry.unitBytes
    let wanted = (table.options.capacityBytes + unit - 1) / unit * unit
    if found.capacityBytes != wanted {
      let (has, says) = (Scalars.describe(found.capacityBytes), Scalars.describe(wanted))
      refusals.append(refusal(table, found, .capacity, "lives with a capacity of \(has), and the file says \(says)"))
    }
    return refusals + memoryRefusals(table, found) + rightsRefusals(table, found)
  }

  /// How its memory is claimed, where the file says that: a default asks for nothing. Observers cannot see it.
  private func memoryRefusals(_ table: TableConfiguration, _ found: Table) -> [Problem] {
    guard let made = try? found.administration.options() else { return [] }
    let keys: [(key: TableKeyword, has: Bool, wanted: Bool)] = [
      (.preallocate, made.preallocate, table.options.preallocate),
      (.hugePages, made.hugePages, table.options.hugePages),
    ]
    return keys.filter { table.lines[$0.key] != nil && $0.has != $0.wanted }.map { key, has, wanted in
      let says = wanted ? "asks for it" : "says false"
      return refusal(table, found, key, "lives \(has ? "with" : "without") '\(key.rawValue)', and the file \(says)")
    }
  }

  /// The option for `shmctl`: the commands begin with a reload, from which on the table belongs to whom the file says.
  private func trust(_ table: TableConfiguration, _ found: Table) -> String {
    Trouble.trust(table.options.owner ?? (try? found.administration.rights())?.owner)
  }

  /// A change that no living table can take: processes that have it open would use the old one without knowing.
  ///
  /// The commands begin with a reload: the daemon makes a dropped table in its next round, as the file in force says.
  private func refusal(
    _ table: TableConfiguration, _ found: Table, _ key: TableKeyword, _ difference: String
  ) -> Problem {
    let (name, trust) = (table.name, trust(table, found))
    // From its store it comes back by itself: to load a dump as well would find its keys there.
    let isStored = table.durability.mode != nil
    if isStored, let reason = reasonNotToDrop(found) {
      return problem(table, key, "\(difference); it stays as it is. \(reason)")
    }
    let (dump, load) =
      isStored
      ? ("", "")
      : (" && shmctl dump\(trust) -t \(name) -o \(name).dump", " && shmctl load\(trust) -t \(name) \(name).dump")
    return problem(
      table, key,
      difference + "; it stays as it is. To make it anew with what \(isStored ? "its store" : "it") holds, "
        + "stop its writers and run: systemctl reload shmd\(dump) && shmctl drop\(trust) \(name) && systemctl reload shmd\(load)"
    )
  }

  /// Why a durable table must not be dropped to be made anew: it would come back as what lies in its store's place, which may be another table's, or empty.
  private func reasonNotToDrop(_ found: Table) -> String? {
    guard found.durableVersion == 0 else { return nil }
    return
      "Its store does not hold it yet, so do not drop it: if shmd's status says that the store is another table's, move "
      + "\(found.name).N.sqlite and its -wal in \(configuration.storeDirectory) away; once shmd has stored it, 'shmd --check' says how to "
      + "make it anew with what it holds"
  }

  /// The rights of a table that another user made, as root may before the daemon starts, are that user's to change.
  private func rightsRefusals(_ table: TableConfiguration, _ found: Table) -> [Problem] {
    guard let has = try? found.administration.rights(), !has.canBeChanged else { return [] }
    return differences(of: has, from: table).map { key, now, wanted in
      problem(
        table, key,
        "belongs to user \(has.owner), so this daemon leaves its \(key.rawValue) \(now), and the file says \(wanted); write into the file what "
          + "it has, or let its owner make it anew as the file says, and run: systemctl reload shmd")
    }
  }

  private func differences(
    of has: Table.Rights, from table: TableConfiguration
  ) -> [(key: TableKeyword, has: String, wanted: String)] {
    let wanted = table.options.rights(insteadOf: has)
    let all: [(key: TableKeyword, has: String, wanted: String)] = [
      (.mode, "0\(String(has.mode, radix: 8))", "0\(String(wanted.mode, radix: 8))"),
      (.owner, "\(has.owner)", "\(wanted.owner)"), (.group, "\(has.group)", "\(wanted.group)"),
    ]
    return all.filter { $0.has != $0.wanted }
  }

  private static func shown(group: UInt32) -> String {
    "\(group)" + (Accounts.name(ofGroup: group).map { " (\($0))" } ?? "")
  }

  /// A table in care stays in care without an `owner` in the file, but the next daemon trusts only whom the file names.
  private mutating func lookAtOwner(of found: Table, _ table: TableConfiguration) {
    guard table.options.owner == nil, let owner = (try? found.administration.rights())?.owner,
      ![0, Accounts.effectiveUser, DaemonUser.id].contains(owner)
    else { return }
    warnings.append(
      problem(
        table, .owner,
        "warning: belongs to user \(owner), whom the file does not name any more; this daemon keeps it, and the next one would take it "
          + "for a stranger's: write 'owner: \(owner)', or give it to another by 'owner'"))
  }

  /// For a check: what a start or a reload changes. Observers see the rights of a table, and not its limits.
  private mutating func compareRights(of found: Table, _ table: TableConfiguration) {
    guard let has = try? found.administration.rights(), has.canBeChanged else { return }
    for (key, has, wanted) in differences(of: has, from: table) {
      warnings.append(
        problem(table, key, "warning: lives with \(key.rawValue) \(has), and a start or a reload makes that \(wanted)"))
    }
  }

  /// Who may be given what: the kernel's rules for chown(2), asked beforehand.
  private mutating func checkAccounts(_ table: TableConfiguration, owner: UInt32, group: UInt32?) {
    if let wanted = table.options.owner, wanted != owner, !Accounts.isRoot {
      complain(table, .owner, "only root may give a table to user \(wanted); remove the key, or run as root")
    }
    if let wanted = table.options.group, wanted != group, !Accounts.isMember(of: wanted) {
      complain(
        table, .group,
        "this daemon is no member of group \(Self.shown(group: wanted)), so it cannot give it a table; run: "
          + "usermod -aG \(Accounts.name(ofGroup: wanted) ?? "\(wanted)") "
          + "\(Accounts.name(ofUser: Accounts.effectiveUser) ?? "\(Accounts.effectiveUser)") && systemctl restart shmd")
    }
  }
}

extension Table.Rights {
  /// Whether the kernel lets this process change them: they are its own user's, or it is root's.
  var canBeChanged: Bool { Accounts.isRoot || owner == Accounts.effectiveUser }
}

extension SegmentOptions {
  /// The rights that these options ask for, where a table has others.
  func rights(insteadOf current: Table.Rights) -> Table.Rights {
    Table.Rights(mode: mode, owner: owner ?? current.owner, group: group ?? current.group)
  }

  var limits: Table.Limits {
    Table.Limits(limboBudgetBytes: limboBudgetBytes, stalledReaderPolicy: stalledReaderPolicy)
  }
}
