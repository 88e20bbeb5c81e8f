import Synchronization

/// How far the daemon's start has come, and which servers do not listen. The services tell it, READY waits for it, and a reload waits
/// for READY.
final class Startup: Sendable {
  /// What listens to clients, by its key in the configuration.
  enum Server: String, CaseIterable {
    case resp
    case monitoring
  }

  /// Every table has been looked after once.
  let firstRoundOver = Latch()
  private let resp = Latch()
  private let monitoring = Latch()
  /// The start is over.
  let ready = Latch()
  /// The service manager has been told so.
  let told = Latch()
  private let failures = Mutex<[Server: String]>([:])

  /// Opens when the server's first attempt to listen is over: it listens, has failed, or is not configured.
  func attempted(_ server: Server) -> Latch {
    switch server {
    case .resp: resp
    case .monitoring: monitoring
    }
  }

  /// Those whose first attempt to listen goes on.
  var attempting: [Server] { Server.allCases.filter { !attempted($0).isOpen } }

  /// Notes that the server will not listen. To be called before its attempt is over.
  func fail(_ server: Server, _ failure: any Error) { failures.withLock { $0[server] = "\(failure)" } }

  /// The servers that do not listen, with why; for the status line.
  var unserved: [String] {
    let failures = failures.withLock(\.self)
    return Server.allCases.compactMap { server in
      if let failure = failures[server] { return "'\(server)' is not served: \(failure)" }
      return attempted(server).isOpen ? nil : "'\(server)' does not listen yet"
    }
  }
}
