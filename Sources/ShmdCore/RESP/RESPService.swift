import Logging
import RESPServer
import ServiceLifecycle
import ToolSupport

/// Serves tables to Redis' clients until the daemon stops. What it serves, and where, changes with a restart.
struct RESPService: Service {
  let configuration: Configuration
  let passed: PassedSockets
  let log: Logger

  func run() async throws {
    guard var options = ServerOptions(configuration) else {
      // Nobody asked for it. A service that ends would end the daemon.
      return try await gracefulShutdown()
    }
    if configuration.resp?.socket == Scalars.passed { options.bound = passed["resp"] }
    let server = RESPServer(options)
    do {
      if options.isNowhere { throw ListenFailure.nothingPassed("resp") }
      try await server.start()
    } catch {
      // What keeps the tables does not end because somebody else has the socket.
      log.error("Redis' clients not served", metadata: ["problem": "\(error)"])
      return try await gracefulShutdown()
    }
    log.notice(
      "serving Redis' clients",
      metadata: [
        "socket": "\(configuration.resp?.socket ?? "-")",
        "listen": "\(options.listen.map { "\($0.host):\($0.port)" } ?? "-")",
        "tables": "\(options.tables.map(\.name).joined(separator: " "))",
      ])
    try? await gracefulShutdown()
    await server.stop()
  }
}

extension ServerOptions {
  fileprivate var isNowhere: Bool { socket == nil && listen == nil && bound.isEmpty }

  /// Nil if the configuration has no `resp`.
  init?(_ configuration: Configuration) {
    guard let resp = configuration.resp else { return nil }
    let names = resp.tables ?? configuration.tables.map(\.name)
    self.init(
      socket: resp.socket == Scalars.passed ? nil : resp.socket,
      listen: resp.listen.map { Address(host: $0.host, port: $0.port) },
      tables: names.map { name in
        ServedTable(name: name, owner: configuration.tables.first { $0.name == name }?.options.owner)
      })
    socketMode = resp.mode ?? 0o660
    users = resp.users.map(Set.init)
  }
}
