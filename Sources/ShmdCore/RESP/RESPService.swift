import HostSockets
import Logging
import RESPServer
import ServiceLifecycle
import StatusServer

/// Serves tables to Redis' clients until the daemon stops. What it serves, and where, changes with a restart.
struct RESPService: Service {
  let configuration: Configuration
  let passed: PassedSockets
  /// Takes writes to tables that mirror.
  let mirrors: Mirrors
  let startup: Startup
  let log: Logger

  func run() async throws {
    let server = await start()
    startup.attempted(.resp).open()
    // A service that ends would end the daemon.
    try? await gracefulShutdown()
    await server?.stop()
  }

  /// - Returns: nil if nobody asked for it, or if it cannot listen.
  private func start() async -> RESPServer? {
    guard let resp = configuration.resp else { return nil }
    var options = ServerOptions(resp, configuration.tables)
    leaveDescriptors(&options)
    let server: RESPServer
    do {
      options.bound = try passed.sockets("resp", resp.listening, log)
      if options.bound.contains(where: { (try? BoundSocket.kind(of: $0)) == .tcp }) { warnOfTCP(resp) }
      server = RESPServer(options, upstream: mirrors)
      try await server.start()
    } catch {
      // What keeps the tables does not end because somebody else has the socket.
      log.error("Redis' clients not served", metadata: ["problem": "\(error)"])
      startup.fail(.resp, error)
      return nil
    }
    log.notice(
      "serving Redis' clients",
      metadata: [
        "socket": "\(resp.listening.socket ?? "-")", "listen": "\(resp.listening.listen?.description ?? "-")",
        "tables": "\(options.tables.map(\.name).joined(separator: " "))",
      ])
    return server
  }

  /// Clients get what the configured tables, their stores and mirrors and the connections for pages leave of the process's descriptors, and
  /// half of all at most: a reload may add tables. If clients could take all, the daemon would end (`HostProcess.descriptorReserve`).
  private func leaveDescriptors(_ options: inout ServerOptions) {
    guard let limit = HostProcess.descriptorLimit else { return }
    let clients = Self.mostClients(limit, configuration)
    guard clients < options.mostClients else { return }
    options.mostClients = clients
    log.warning(
      "fewer Redis' clients served, for want of descriptors; raise the hard limit (ulimit -Hn, LimitNOFILE=)",
      metadata: ["clients": "\(options.mostClients)", "descriptors": "\(limit)"])
  }

  static func mostClients(_ limit: Int, _ configuration: Configuration) -> Int {
    let stored = configuration.tables.count { $0.durability.mode != nil }
    let mirrored = configuration.tables.count { $0.upstream != nil }
    // A store has its file, SQLite's log, the keeper's lock and for a moment the file after it.
    let tables = 2 * configuration.tables.count + 5 * stored + 4 * mirrored
    let pages = configuration.monitoring == nil ? 0 : mostPageConnections
    let rest = limit - descriptorsOfDaemon - tables - pages - HostProcess.descriptorReserve
    return max(fewestClients, min(limit / 2, rest))
  }

  /// Served even where the limit has no room for all tables, of which some are not opened then.
  private static let fewestClients = 4
  /// The lock, the log, what signals and timers take, the listening sockets.
  private static let descriptorsOfDaemon = 24
  /// StatusServer serves half of them, and tells the other half that there are too many.
  private static let mostPageConnections = 2 * StatusServerOptions.defaultConnectionLimit

  /// Which sockets are passed, the configuration could not know.
  private func warnOfTCP(_ resp: RESPConfiguration) {
    if resp.users != nil {
      log.warning("'resp: users' refuses all who come by the TCP socket that was passed: over TCP nobody tells a user")
    } else if let rules = resp.access, !rules.contains(where: \.rule.isForAnyone) {
      log.warning(
        "'resp: access' has no rule with 'anyone: true', so nobody who comes by the TCP socket that was passed may do anything"
      )
    }
  }
}

extension ServerOptions {
  fileprivate init(_ resp: RESPConfiguration, _ tables: [TableConfiguration]) {
    let names = resp.tableNames(tables)
    self.init(
      socket: resp.listening.path, listen: resp.listening.listen.map { Address(host: $0.host, port: $0.port) },
      tables: names.map { name in ServedTable(name: name, owner: tables.first { $0.name == name }?.options.owner) })
    socketMode = resp.listening.mode ?? 0o660
    users = resp.users.map(Set.init)
    access = resp.access?.map(\.rule)
  }
}
