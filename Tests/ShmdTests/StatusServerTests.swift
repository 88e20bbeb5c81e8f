import StatusServer
import TestSupport
import Testing

/// The server of the pages by itself.
@Suite struct StatusServerTests {
  /// Serves two connections at once, and ends none by the time that it has.
  private static func serverOfTwo(at socket: String) async throws -> StatusServer {
    var options = StatusServerOptions(socket: socket, listen: nil)
    options.connectionLimit = 2
    options.timeLimit = .hours(1)
    let server = StatusServer(options) { _ in Page(status: 200, "here") }
    try await server.start()
    return server
  }

  @Test func whoWasRefusedTakesNobodysPlace() async throws {
    let fixture = try DaemonFixture()
    let socket = fixture.directory + "/http.sock"
    let server = try await Self.serverOfTwo(at: socket)
    var served = [try HTTPClient(socket), try HTTPClient(socket)]
    let refused = [try HTTPClient(socket), try HTTPClient(socket)]
    for client in refused { #expect(try client.answer().status == 503) }
    served = []
    // Until the server has noticed, one more is closed without an answer.
    #expect(await comesTrue { (try? HTTPClient.get("/", at: socket).status) == 200 })
    withExtendedLifetime((served, refused)) {}
    await server.stop()
  }

  /// Each of them has a descriptor until its client has gone, or its time is over.
  @Test func whoIsRefusedIsToldWhileFewAre() async throws {
    let fixture = try DaemonFixture()
    let socket = fixture.directory + "/http.sock"
    let server = try await Self.serverOfTwo(at: socket)
    var told = try (0..<4).map { _ in try HTTPClient(socket) }
    for client in told.dropFirst(2) { #expect(try client.answer().status == 503) }
    for _ in 0..<3 {
      let client = try HTTPClient(socket)
      #expect(throws: (any Error).self) { try client.answer() }
    }
    told.removeLast()
    #expect(await comesTrue { (try? HTTPClient(socket).answer().status) == 503 })
    withExtendedLifetime(told) {}
    await server.stop()
  }
}
