import Logging
import RESPServer
import ServiceLifecycle

/// Serves tables to Redis' clients until the daemon stops. What it serves, and where, changes with a restart.
struct RESPService: Service {
  let configuration: Configuration
  let log: Logger

  func run() async throws {
    guard let options = ServerOptions(configuration) else {
      // Nobody asked for it. A service that ends would end the daemon.
      return try await gracefulShutdown()
    }
    let server = RESPServer(options)
    try await server.start()
    log.notice(
      "serving Redis' clients",
      metadata: [
        "socket": "\(options.socket ?? "-")", "listen": "\(options.listen.map { "\($0.host):\($0.port)" } ?? "-")",
        "tables": "\(options.tables.map(\.name).joined(separator: " "))",
      ])
    try? await gracefulShutdown()
    await server.stop()
  }
}

extension ServerOptions {
  /// Nil if the configuration has no `resp`.
  init?(_ configuration: Configuration) {
    guard let resp = configuration.resp else { return nil }
    let names = resp.tables ?? configuration.tables.map(\.name)
    self.init(
      socket: resp.socket, listen: resp.listen.map { Address(host: $0.host, port: $0.port) },
      tables: names.map { name in
        ServedTable(name: name, owner: configuration.tables.first { $0.name == name }?.options.owner)
      })
    socketMode = resp.mode ?? 0o660
    users = resp.users.map(Set.init)
  }
}
