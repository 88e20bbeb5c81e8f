import StatusServer
import TestSupport
import Testing

/// The server of the pages by itself.
@Suite struct StatusServerTests {
  @Test func whoWasRefusedTakesNobodysPlace() async throws {
    let fixture = try DaemonFixture()
    let socket = fixture.directory + "/http.sock"
    var options = StatusServerOptions(socket: socket, listen: nil)
    options.connectionLimit = 2
    // So that no connection ends by the time that it has.
    options.timeLimit = .hours(1)
    let server = StatusServer(options) { _ in Page(status: 200, "here") }
    try await server.start()
    var served = [try HTTPClient(socket), try HTTPClient(socket)]
    let refused = [try HTTPClient(socket), try HTTPClient(socket)]
    for client in refused { #expect(try client.answer().status == 503) }
    served = []
    #expect(try await comesTrue { try HTTPClient.get("/", at: socket).status == 200 })
    withExtendedLifetime((served, refused)) {}
    await server.stop()
  }
}
