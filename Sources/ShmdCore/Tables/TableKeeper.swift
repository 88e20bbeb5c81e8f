import Logging
import SharedTable

/// The tables in the daemon's care. All work on tables happens here, on one thread.
public actor TableKeeper {
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe TableThread.shared.asUnownedSerialExecutor()
  }

  var tables: [ManagedTable] = []
  var blocked: [BlockedTable] = []
  let log: Logger

  let stores: Stores
  let mirrors: Mirrors
  nonisolated let counters = DaemonCounters()
  /// Opens when the daemon is to stop: from then on no table is made, and the one that is being made is left to the next daemon.
  nonisolated let stopping = Latch()

  /// - Parameters:
  ///   - writeSocket: where this daemon takes writes to mirrored tables; nil: it takes none.
  ///   - stores: with keepers that start otherwise than the daemon's do, for tests.
  init(log: Logger, writeSocket: WriteSocket? = nil, stores: Stores? = nil) {
    self.log = log
    self.stores = stores ?? Stores(log: log)
    mirrors = Mirrors(log: log, writeSocket: writeSocket)
  }

  /// Keeps the stores and the mirrors of the tables in care.
  /// - Parameters:
  ///   - retryStopped: mirrors that have stopped are tried again.
  ///   - beat: called at times while stores are let go.
  func followTables(retryStopped: Bool = false, _ beat: @Sendable () -> Void) {
    let tables = tables.map { (configuration: $0.configuration, table: $0.table) }
    stores.follow(tables, waiting: blocked.map(\.configuration), beat)
    mirrors.follow(tables, retryStopped: retryStopped)
  }

  /// Names of the tables in care.
  public var names: [String] { tables.map(\.name) }

  /// How they stand.
  public var report: KeeperReport {
    let waiting = blocked.map { "'\($0.name)' cannot be had: \($0.trouble.message)" }
    let ailing = tables.compactMap { table in table.trouble.map { "'\(table.name)' is in trouble: \($0.message)" } }
    let refused = tables.flatMap { $0.refusedChanges.map(\.message) }
    return KeeperReport(
      tableCount: tables.count, troubles: waiting + ailing + refused + stores.troubles + mirrors.troubles)
  }

  /// Makes the host's tables what the configuration says, each as far as it can be.
  ///
  /// Missing tables are created, running ones re-attached and adjusted. A table that the configuration does not name
  /// any more is let go and stays in place. One that cannot be had is said, and tried for in each round.
  /// - Parameter beat: called after each table, for there may be thousands.
  /// - Throws: ``Refusal``, if the file asks for what can never be; then nothing has changed.
  public func apply(_ configuration: Configuration, beat: @Sendable () -> Void = {}) throws(Refusal) {
    let plan = Plan(configuration, access: .participant, inCare: tables.map(\.table), beat: beat)
    if !plan.problems.isEmpty { throw Refusal(plan.problems) }
    if let obstacle = stores.obstacle(to: configuration) { throw Refusal([plan.storeProblem(obstacle)]) }
    stores.use(configuration.storeDirectory)
    stores.forgetUnsaved(except: configuration)
    for warning in plan.warnings { log.warning("\(warning)") }
    // Their memory may be the room that those need which are made anew.
    tables.removeAll { !$0.table.administration.isNamed }
    var (next, waiting) = carryOut(plan, beat)
    for index in next.indices {
      do throws(TableError) {
        try next[index].adjust(to: next[index].configuration, log)
      } catch {
        // The plan looked for every reason there is: what remains is a change on the host in between.
        let wanted = next[index].configuration
        log.error("table not adjusted", metadata: ["table": "\(wanted.name)", "problem": "\(error.message)"])
        next[index].refusedChanges.append(
          Problem(
            file: wanted.file, line: wanted.line(.name), "table '\(wanted.name)' is not adjusted: \(error.message)"))
      }
    }
    for old in tables where !configuration.tables.contains(where: { $0.name == old.name }) {
      log.notice("table let go, it stays in place", metadata: ["table": "\(old.name)"])
    }
    tables = next
    blocked = waiting
    followTables(retryStopped: true, beat)
  }

  /// The tables of a plan, the missing ones created as far as they can be.
  private func carryOut(_ plan: Plan, _ beat: @Sendable () -> Void) -> ([ManagedTable], [BlockedTable]) {
    var next: [ManagedTable] = []
    var waiting: [BlockedTable] = []
    for step in plan.steps {
      defer { beat() }
      switch step {
      case .keep(let configuration, let table, let refused):
        let managed = carryOn(configuration, table, refused)
        next.append(managed)
        stores.begin(configuration, managed.table)
      case .wait(let configuration, let error): waiting.append(wait(for: configuration, configuration.trouble(error)))
      case .create(let configuration):
        do throws(TableError) {
          let table = try create(configuration, beat)
          next.append(ManagedTable(configuration, table))
          stores.begin(configuration, table)
        } catch {
          waiting.append(wait(for: configuration, configuration.trouble(error)))
        }
      }
    }
    return (next, waiting)
  }

  /// Says it now, and not in each round. That the daemon stops is no trouble.
  func wait(for configuration: TableConfiguration, _ trouble: Trouble) -> BlockedTable {
    if !stopping.isOpen {
      log.error(
        "\(trouble.headline)", metadata: ["table": "\(configuration.name)", "problem": "\(trouble.message)"])
    }
    return BlockedTable(configuration: configuration, trouble: trouble)
  }

  /// A running table: the one in care if it is the same, so that its sweep goes on.
  private func carryOn(
    _ configuration: TableConfiguration, _ table: Table, _ refused: [Problem]
  ) -> ManagedTable {
    for change in refused { log.error("\(change)") }
    if var known = tables.first(where: { $0.name == configuration.name }), known.table.administration.isNamed {
      let durability = configuration.durability
      if known.configuration.durability != durability {
        log.notice(
          "table durability changed",
          metadata: ["table": "\(configuration.name)", "durability": "\(durability.written)"])
      }
      known.configuration = configuration
      known.refusedChanges = refused
      return known
    }
    log.info("table attached", metadata: describe(table).merging(["keys": "\(table.count)"]) { $1 })
    return ManagedTable(configuration, table, refused: refused)
  }

  /// - Parameter beat: called at times while a store is read or much memory is claimed, which may take longer than the watchdog waits.
  func create(_ configuration: TableConfiguration, _ beat: @Sendable () -> Void) throws(TableError) -> Table {
    let name = configuration.name
    if stopping.isOpen { throw TableError(.system, table: name, "not made, since shmd stops; the next one makes it") }
    try Plan.requireDescriptors(name)
    func goesOn() -> Bool {
      beat()
      return !stopping.isOpen
    }
    if let table = try stores.restore(configuration, goesOn: goesOn) { return table }
    try Plan.requireRoom(for: configuration)
    let table = try Table.create(name, configuration.options, goesOn: goesOn)
    log.info("table created", metadata: describe(table))
    return table
  }

  /// The table as it lives, which may be another than the file says.
  func describe(_ table: Table) -> Logger.Metadata {
    [
      "table": "\(table.name)", "variant": "\(table.variant)", "capacity": "\(Scalars.describe(table.capacityBytes))",
    ]
  }
}
