import Glibc
import SharedTable

/// `INFO [section]…`
struct InfoReport {
  /// Whose commands these are: clients ask before they use newer ones.
  static let redisVersion = "7.0.15"

  private let server: ServerState
  private let session: Session

  init(_ server: ServerState, _ session: Session) {
    self.server = server
    self.session = session
  }

  func answer(_ request: Request, _ reply: inout Reply) throws {
    var wanted = Set((1..<request.count).map { request[$0].lowercased })
    if wanted.isEmpty || !wanted.isDisjoint(with: ["all", "default", "everything"]) {
      wanted = ["server", "clients", "stats", "replication", "cluster", "keyspace", "persistence", "memory"]
    }
    let sections: [(String, [(String, String)])] = [
      ("Server", serverLines), ("Clients", clientLines), ("Memory", memoryLines),
      ("Persistence", [("loading", "0"), ("rdb_changes_since_last_save", "0"), ("aof_enabled", "0")]),
      ("Stats", statisticsLines),
      ("Replication", [("role", "master"), ("connected_slaves", "0"), ("master_repl_offset", "0")]),
      ("Cluster", [("cluster_enabled", "0")]), ("Keyspace", keyspaceLines),
    ]
    let text = sections.filter { wanted.contains($0.0.lowercased()) }.map { section in
      "# \(section.0)\r\n" + section.1.map { "\($0.0):\($0.1)\r\n" }.joined()
    }
    reply.verbatim(text.joined(separator: "\r\n"))
  }

  private var uptime: Int { Int((ContinuousClock.now - server.begin).components.seconds) }

  private var serverLines: [(String, String)] {
    [
      ("redis_version", Self.redisVersion), ("redis_mode", "standalone"), ("server_name", "shmd"), ("os", "Linux"),
      ("arch_bits", "64"), ("process_id", "\(getpid())"), ("tcp_port", "\(server.options.listen?.port ?? 0)"),
      ("uptime_in_seconds", "\(uptime)"), ("uptime_in_days", "\(uptime / 86400)"),
    ]
  }

  private var clientLines: [(String, String)] {
    [
      ("connected_clients", "\(server.clients.count)"), ("maxclients", "\(server.options.mostClients)"),
      ("blocked_clients", "0"), ("tracking_clients", "\(server.clients.count { $0.current.tracking != nil })"),
    ]
  }

  /// Bytes of the tables in /dev/shm.
  private var memoryLines: [(String, String)] {
    let tables = shownDatabases.compactMap { try? $0.table() }
    return [
      ("used_memory", "\(tables.reduce(0) { $0 + $1.administration.claimedBytes })"),
      ("maxmemory", "\(tables.reduce(0) { $0 + $1.capacityBytes })"), ("maxmemory_policy", "noeviction"),
    ]
  }

  private var statisticsLines: [(String, String)] {
    let counts = server.counts
    return [
      ("total_connections_received", "\(counts.connections)"), ("total_commands_processed", "\(counts.commands)"),
      ("rejected_connections", "\(counts.rejected)"),
      ("pubsub_channels", "\(server.broker.channelCount)"), ("pubsub_patterns", "\(server.broker.patternCount)"),
    ]
  }

  /// Those of which the client may read every key: figures tell of all.
  private var shownDatabases: [Database] {
    server.databases.filter { database in
      session.client.access?.tables[database.index].everywhere.contains(.read) ?? true
    }
  }

  private var keyspaceLines: [(String, String)] {
    shownDatabases.compactMap { database in
      guard let count = (try? database.table())?.count, count > 0 else { return nil }
      return ("db\(database.index)", "keys=\(count),expires=0,avg_ttl=0")
    }
  }
}
