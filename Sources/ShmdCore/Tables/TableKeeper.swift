public import Logging
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

  public init(log: Logger, stores: Stores? = nil) {
    self.log = log
    self.stores = stores ?? Stores(log: log)
  }

  /// Keeps the stores of the tables in care.
  func followStores() { stores.follow(tables.map { ($0.configuration, $0.table) }) }

  /// Names of the tables in care.
  public var names: [String] { tables.map(\.name) }

  /// Makes the host's tables what the configuration says: all of it, or nothing.
  ///
  /// Missing tables are created, running ones re-attached and adjusted. A table that the configuration does not name
  /// any more is let go and stays in place. One whose name a stranger has is said and waited for.
  /// - Throws: ``Refusal``; then the tables in care are those from before, and unchanged.
  public func apply(_ configuration: Configuration) throws(Refusal) {
    let plan = Plan(configuration, access: .participant)
    stores.use(configuration.storeDirectory)
    if !plan.problems.isEmpty { throw Refusal(plan.problems) }
    var (next, waiting) = try create(plan)
    for index in next.indices {
      do throws(TableError) {
        try next[index].adjust(to: next[index].configuration, log)
      } catch {
        // The plan looked for every reason there is: what remains is a change on the host in between.
        log.error("table not adjusted", metadata: ["table": "\(next[index].name)", "problem": "\(error.message)"])
      }
    }
    for old in tables where !configuration.tables.contains(where: { $0.name == old.name }) {
      log.notice("table let go, it stays in place", metadata: ["table": "\(old.name)"])
    }
    tables = next
    blocked = waiting
    followStores()
  }

  /// The tables of a plan, the missing ones created. If one cannot be, those made before it are dropped again.
  private func create(_ plan: Plan) throws(Refusal) -> ([ManagedTable], [BlockedTable]) {
    var made: [String] = []
    var next: [ManagedTable] = []
    var waiting: [BlockedTable] = []
    for step in plan.steps {
      switch step {
      case .keep(let configuration, let table):
        next.append(carryOn(configuration, table))
      case .wait(let configuration, let error):
        waiting.append(waitFor(configuration, error))
      case .create(let configuration):
        do throws(TableError) {
          next.append(ManagedTable(configuration, try create(configuration)))
          made.append(configuration.name)
        } catch {
          // Of the data object's name alone, the plan knows nothing until the table is made.
          if error.code == .foreign {
            waiting.append(waitFor(configuration, error))
            continue
          }
          for name in made { try? Table.drop(name) }
          let message = "table '\(configuration.name)': cannot be created: \(Self.reason(error))"
          throw Refusal(
            [Problem(file: plan.configuration.file, line: configuration.line(.name), message)], isHostFailure: true)
        }
      }
    }
    return (next, waiting)
  }

  /// Says it now, and not each turn.
  private func waitFor(_ configuration: TableConfiguration, _ error: TableError) -> BlockedTable {
    log.error(
      "table's name is a stranger's, waiting for it",
      metadata: ["table": "\(configuration.name)", "problem": "\(error.message)"])
    return BlockedTable(configuration: configuration)
  }

  private static func reason(_ error: TableError) -> String {
    guard error.code == .exists else { return error.message }
    return "a control object without its data object lies under the name, so it was half removed; drop it first"
  }

  /// A running table: the one in care if it is the same, so that its sweep goes on.
  private func carryOn(_ configuration: TableConfiguration, _ table: Table) -> ManagedTable {
    if var known = tables.first(where: { $0.name == configuration.name }), known.table.isNamed {
      known.configuration = configuration
      return known
    }
    log.info("table attached", metadata: describe(configuration).merging(["keys": "\(table.count)"]) { $1 })
    return ManagedTable(configuration, table)
  }

  func create(_ configuration: TableConfiguration) throws(TableError) -> Table {
    if let table = try stores.restore(configuration) { return table }
    let table = try Table.create(configuration.name, configuration.options)
    log.info("table created", metadata: describe(configuration))
    return table
  }

  func describe(_ configuration: TableConfiguration) -> Logger.Metadata {
    [
      "table": "\(configuration.name)", "variant": "\(configuration.options.variant)",
      "capacity": "\(Scalars.describe(configuration.options.capacityBytes))",
    ]
  }
}
