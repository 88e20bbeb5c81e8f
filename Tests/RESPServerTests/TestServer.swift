import SharedTable
import TestSupport

@testable import RESPServer

/// A server on a socket and a table of its own, for one test.
final class TestServer {
  let table: Table
  let socket: String
  let server: RESPServer

  init(
    tables: Int = 1, capacityBytes: Int = 4 << 20, variant: Table.Variant = .rcu,
    _ adjust: (inout ServerOptions) -> Void
  ) async throws {
    let names = (0..<tables).map { _ in uniqueTableName() }
    let made = try names.map { try Table.create($0, Table.Options(variant: variant, capacityBytes: capacityBytes)) }
    table = made[0]
    self.names = names
    socket = "/tmp/\(names[0]).sock"
    var options = ServerOptions(socket: socket, tables: names.map { .init(name: $0) })
    adjust(&options)
    server = RESPServer(options)
    try await server.start()
  }

  let names: [String]

  func client() throws -> RedisClient { try RedisClient(socket) }

  func stop() async {
    await server.stop()
    for name in names { try? Table.drop(name) }
  }
}

/// Runs `body` with a server and a client.
func withServer(
  tables: Int = 1, capacityBytes: Int = 4 << 20, variant: Table.Variant = .rcu,
  _ body: (TestServer, RedisClient) throws -> Void
) async throws {
  try await withServer(tables: tables, capacityBytes: capacityBytes, variant: variant, adjusting: { _ in }, body)
}

/// The same with other options.
func withServer(
  tables: Int = 1, capacityBytes: Int = 4 << 20, variant: Table.Variant = .rcu,
  adjusting adjust: (inout ServerOptions) -> Void, _ body: (TestServer, RedisClient) throws -> Void
) async throws {
  let server = try await TestServer(tables: tables, capacityBytes: capacityBytes, variant: variant, adjust)
  do {
    try body(server, try server.client())
  } catch {
    await server.stop()
    throw error
  }
  await server.stop()
}

/// Commands, a line each, as clients send them.
func encode(_ lines: [String]) -> [UInt8] {
  lines.flatMap { RedisClient.encode($0.split(separator: " ").map { Array($0.utf8) }) }
}
