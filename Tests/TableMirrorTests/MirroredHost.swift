import Dispatch
import RESPServer
import SharedTable
import TableMirror
import TestSupport
import Testing
import UpstreamWrites

/// A host: a table that mirrors a store in memory, and a server for Redis' clients whose writes go there.
final class MirroredHost: Sendable {
  let fixture: MirrorFixture
  let mirror: Mirror
  private let server: RESPServer
  private let task: Task<Void, Never>
  let socket: String

  /// Takes writes to the one table that there is.
  private struct Writer: UpstreamWriter {
    let mirror: Mirror
    func session(ofTable name: String) throws(UpstreamRefusal) -> any UpstreamSession { try mirror.session() }
  }

  private init(_ fixture: MirrorFixture, mirror: Mirror) async throws {
    self.fixture = fixture
    self.mirror = mirror
    socket = fixture.settings.writeSocketPath!
    let options = ServerOptions(socket: socket, tables: [.init(name: fixture.table.name)])
    server = RESPServer(options, upstream: Writer(mirror: mirror))
    task = Task { await mirror.run() }
    try await server.start()
  }

  /// Ends the server alone.
  func stopServing() async { await server.stop() }

  private func stop() async {
    await server.stop()
    task.cancel()
    await task.value
  }

  /// Runs `body` with a host that follows.
  static func with(
    _ variant: Table.Variant = .rcu, store: FakeStore? = nil, leases: MirrorSettings.Leases = .keep,
    _ body: (MirroredHost) async throws -> Void
  ) async throws {
    try await MirrorFixture.with(variant) { made in
      var fixture = made
      if let store { fixture = MirrorFixture(table: made.table, store: store, settings: made.settings) }
      fixture.settings.leases = leases
      fixture.settings.writeSocketPath = "/tmp/\(fixture.table.name).sock"
      let mirror = Mirror(fixture.table, fixture.settings, source: fixture.store) { _ in }
      let host = try await MirroredHost(fixture, mirror: mirror)
      do {
        try await fixture.wait(for: .following)
        // The table says so a moment before the mirror takes writes.
        _ = await comesTrue { (try? mirror.session()) != nil }
        try await body(host)
      } catch {
        await host.stop()
        throw error
      }
      await host.stop()
    }
  }

  /// Talks to it as a client, on a thread of its own: the store's answers come by Swift's pool, which a client would block.
  func talk<R: Sendable>(_ body: @escaping @Sendable (RedisClient) throws -> R) async throws -> R {
    let socket = socket
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "client").async {
        continuation.resume(with: Result { try body(try RedisClient(socket)) })
      }
    }
  }

  /// Writes by the library, on a thread of its own, as ``talk(_:)`` does.
  func write<R: Sendable>(_ body: @escaping @Sendable (Table.Upstream) throws -> R) async throws -> R {
    let table = fixture.table
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "writer").async { continuation.resume(with: Result { try body(table.upstream) }) }
    }
  }

  /// The answers to commands, given as words between blanks.
  func answers(_ commands: [String]) async throws -> [String] {
    try await talk { client in
      try commands.map { try client.call($0.split(separator: " ").map { Array($0.utf8) }) }
    }
  }

  func answer(_ command: String) async throws -> String { try await answers([command])[0] }

  /// Gives commands of one connection, each with the answer that it is to have.
  func expect(
    _ exchange: KeyValuePairs<String, String>, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let answers = try await answers(exchange.map(\.key))
    for (pair, answer) in zip(exchange, answers) {
      #expect(answer == pair.value, "\(pair.key)", sourceLocation: sourceLocation)
    }
  }

  /// The same where the last one's alone is of interest.
  func expect(
    _ answer: String, last commands: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let last = try await answers(commands).last
    #expect(last == answer, sourceLocation: sourceLocation)
  }
}
