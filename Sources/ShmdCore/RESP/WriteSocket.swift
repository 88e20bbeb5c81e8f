/// Where programs of this host have writes to mirrored tables made: at the socket for Redis' clients, of the tables that it serves. Fixed
/// when the daemon starts, as what it serves is.
struct WriteSocket: Sendable {
  private let path: String
  private let tables: Set<String>

  /// - Returns: nil if there is no such socket.
  init?(_ configuration: Configuration, _ passed: PassedSockets) {
    guard let resp = configuration.resp,
      let path = resp.listening.isPassed ? passed.path(of: "resp") : resp.listening.path
    else { return nil }
    self.path = path
    tables = Set(resp.tableNames(configuration.tables))
  }

  /// - Returns: nil if the table is not served there.
  func path(forTable name: String) -> String? { tables.contains(name) ? path : nil }
}
