public import Logging
public import SharedTable

/// What the daemon is told to keep. Made whole and valid by ``ConfigurationReader``, or not at all.
public struct Configuration: Sendable, Equatable {
  /// As it was named on the command line: every complaint begins with it.
  public var file: String
  /// From the end of one round of the table loop to the next.
  public var interval: Duration = .seconds(1)
  public var logLevel: Logger.Level = .info
  public var tables: [TableConfiguration] = []
  /// What Redis' clients are served; nil: nothing.
  var resp: RESPConfiguration?
  /// Where figures, health and the status page are served; nil: nowhere.
  var monitoring: Listening?
  /// Where the stores of durable tables lie.
  public var storeDirectory = Self.defaultStoreDirectory
  static let defaultStoreDirectory = "/var/lib/shmd"
  /// Where each key of the file itself was given.
  var sources: [TopKeyword: Source] = [:]
}

extension Configuration {
  /// The keys whose servers another configuration has that the daemon started with: which tables are served is part of that.
  func unserved(since start: Configuration) -> [TopKeyword] {
    var keys: [TopKeyword] = []
    let (now, then) = (resp?.tableNames(tables), start.resp?.tableNames(start.tables))
    if resp != start.resp || now != then || servedOwners != start.servedOwners { keys.append(.resp) }
    if monitoring != start.monitoring { keys.append(.monitoring) }
    return keys
  }

  /// Whom the server for Redis' clients trusts, by table.
  private var servedOwners: [String: UInt32] {
    let served = Set(resp?.tableNames(tables) ?? [])
    let owners = tables.compactMap { table in table.options.owner.map { (table.name, $0) } }
    return Dictionary(owners) { first, _ in first }.filter { served.contains($0.key) }
  }
}

/// Where a value was given.
struct Source: Sendable, Equatable {
  let file: String
  let line: Int
}

/// One table as configured.
public struct TableConfiguration: Sendable, Equatable {
  /// The file that configures it: the configuration itself or a drop-in.
  var file: String
  public var name: String
  /// `owner` and `group` are nil where the file is silent: then a new table gets the daemon's, a running one keeps
  /// what it has.
  public var options: Table.Options
  public var durability = Durability.none
  /// What it mirrors; nil: nothing, it is a table of its own.
  var upstream: UpstreamConfiguration?
  /// Where each key was given, for complaints that come after parsing.
  var lines: [TableKeyword: Int]

  /// The line of a key, or of the table's name where the file is silent.
  func line(_ key: TableKeyword) -> Int? { lines[key] ?? lines[.name] }
}

/// The keys of a table's mapping, in the order in which the reference lists them.
enum TableKeyword: String, CaseIterable, Sendable {
  case name
  case variant
  case capacity
  case mode
  case owner
  case group
  case full
  case preallocate
  case hugePages = "huge-pages"
  case stalledReader = "stalled-reader"
  case limboBudget = "limbo-budget"
  case durability
  case upstream
}

/// The keys of the file itself.
enum TopKeyword: String, CaseIterable, Sendable {
  case interval
  case logLevel = "log-level"
  case storeDirectory = "store-directory"
  case tables
  case resp
  case monitoring
}
