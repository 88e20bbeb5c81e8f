import Logging
import RESPServer
import ServiceLifecycle
import ToolSupport

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

  /// Half of the process's descriptors stay for its tables, stores and pages. If clients could take all, it would end: libdispatch opens
  /// /proc now and then to look after its threads, and traps if it cannot.
  private func leaveDescriptors(_ options: inout ServerOptions) {
    guard let limit = HostProcess.descriptorLimit, limit / 2 < options.mostClients else { return }
    options.mostClients = max(1, limit / 2)
    log.warning(
      "fewer Redis' clients served, for want of descriptors; raise the hard limit (ulimit -Hn, LimitNOFILE=)",
      metadata: ["clients": "\(options.mostClients)", "descriptors": "\(limit)"])
  }

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
