import Glibc
import SharedTable
import TestSupport
import Testing

@testable import ShmdCore

/// The daemon's tables for Redis' clients.
@Suite struct RESPTests {
  @Test func theDaemonServesItsTablesOnASocket() throws {
    let fixture = try DaemonFixture()
    let (first, second) = (fixture.tableName(), fixture.tableName())
    let socket = fixture.directory + "/resp.sock"
    defer { unlink(socket) }
    try fixture.write(
      """
      interval: 20ms
      tables:
        - name: \(first)
          capacity: 4MiB
        - name: \(second)
          capacity: 4MiB
      resp:
        socket: \(socket)
        mode: "0600"
        tables: [\(second), \(first)]
      """)
    let daemon = try fixture.startReady()
    var status = stat()
    #expect(lstat(socket, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let client = try RedisClient(socket)
    // The tables are in the order of `resp: tables`.
    #expect(try client.call("SET", "k", "from a client") == "+OK")
    #expect(try Table.open(second).get("k", as: String.self) == "from a client")
    try Table.open(first).set("n", 41)
    #expect(try client.call("SELECT", "1") == "+OK")
    #expect(try client.call("INCR", "n") == ":42")
    #expect(try client.call("SHUTDOWN").hasPrefix("-ERR SHUTDOWN is refused"))
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
    #expect(try client.isClosed())
    // Nothing is left of the socket; the tables stay.
    #expect(lstat(socket, &status) != 0)
    #expect(try Table.open(first).get("n", as: Int.self) == 42)
  }

  /// A process with no descriptor left is ended by libdispatch: the daemon leaves tables out before that.
  @Test func tablesLeaveTheDaemonDescriptors() throws {
    let fixture = try DaemonFixture()
    let names = (0..<40).map { _ in fixture.tableName() }
    let socket = fixture.directory + "/resp.sock"
    defer { unlink(socket) }
    let tables = names.map { "  - {name: \($0), capacity: 1MiB}" }.joined(separator: "\n")
    try fixture.write("interval: 20ms\nresp: {socket: \(socket)}\ntables:\n\(tables)\n")
    let daemon = try fixture.start(prelude: "ulimit -n 64")
    try daemon.waitForLine("ready tables=")
    let blocked = names.filter { name in
      daemon.lines.contains { $0.contains("table cannot be had") && $0.contains("table=\(name)") }
    }
    #expect(!blocked.isEmpty && blocked.count < names.count)
    for name in names where !blocked.contains(name) { #expect(try Table.open(name).administration.isNamed) }
    #expect(daemon.transcript.contains("of shmd's descriptors are free; raise the hard limit"), "\(daemon.transcript)")
    // Rounds and threads go on beside as many clients as are served.
    let clients = try (0..<4).map { _ in try RedisClient(socket) }
    for client in clients {
      for index in 0..<100 { #expect(try client.call("SET", "k", "\(index)") == "+OK") }
    }
    // A reload opens no table anew, and gives none away.
    daemon.signal(SIGHUP)
    try daemon.waitForLine("configuration reloaded")
    #expect(try clients[0].call("GET", "k") == "\"99\"")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }

  @Test func clientsLeaveDescriptorsToAllConfiguredTables() throws {
    func clients(_ limit: Int, _ text: String) throws -> Int {
      RESPService.mostClients(limit, try ConfigurationReader.parse(text, file: "f"))
    }
    let tables = (0..<100).map { "{name: t\($0), durability: relaxed}" }.joined(separator: ", ")
    #expect(try clients(1024, "tables: []") == 512)
    #expect(try clients(1024, "tables: [\(tables)]") == 1024 - 24 - 700 - 32)
    #expect(try clients(1024, "tables: [\(tables)]\nmonitoring: {socket: /s}") == 1024 - 24 - 700 - 128 - 32)
    #expect(try clients(64, "tables: [\(tables)]") == 4)
  }

  /// With none left it could open no table, and libdispatch would end it.
  @Test func clientsLeaveTheDaemonHalfOfItsDescriptors() throws {
    let fixture = try DaemonFixture()
    let socket = fixture.directory + "/resp.sock"
    defer { unlink(socket) }
    try fixture.write(
      """
      tables: [{name: \(fixture.tableName()), capacity: 4MiB}]
      resp: {socket: \(socket)}
      """)
    let daemon = try fixture.start(prelude: "ulimit -n 200")
    try daemon.waitForLine("ready tables=")
    #expect(daemon.transcript.contains("clients=100 descriptors=200"), "\(daemon.transcript)")
    let clients = try (0..<100).map { _ in try RedisClient(socket) }
    for client in clients { #expect(try client.call("PING") == "+PONG") }
    #expect(try clients[0].call("CONFIG", "GET", "maxclients") == "[\"maxclients\" \"100\"]")
    #expect(try RedisClient(socket).answer() == "-ERR max number of clients reached")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  @Test func theDaemonGrantsWhatItsRulesSay() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let socket = fixture.directory + "/resp.sock"
    defer { unlink(socket) }
    try fixture.write(
      """
      tables: [{name: \(name), capacity: 4MiB}]
      resp:
        socket: \(socket)
        access:
          - {users: [\(geteuid())], keys: ["session:*"], rights: [write]}
          - {groups: [\(getegid())], tables: [\(name)], rights: [read]}
      """)
    let daemon = try fixture.startReady()
    let client = try RedisClient(socket)
    #expect(try client.call("SET", "session:1", "v") == "+OK")
    #expect(
      try client.call("SET", "user:1", "v").hasPrefix("-NOPERM uid \(geteuid()) may not give 'set': it lacks 'write'"))
    #expect(try client.call("KEYS", "*") == "[\"session:1\"]")
    #expect(try client.call("FLUSHALL").contains("it lacks 'admin' for all of table '\(name)'"))
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }
}
