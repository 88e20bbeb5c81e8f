/// How far the daemon's start has come. The services tell it, READY waits for it, and a reload waits for READY.
final class Startup: Sendable {
  /// What listens to clients, by its key in the configuration.
  enum Server: String, CaseIterable {
    case resp
    case monitoring
  }

  /// The loop has turned once.
  let turned = Latch()
  private let resp = Latch()
  private let monitoring = Latch()
  /// The start is over.
  let ready = Latch()
  /// The service manager has been told so.
  let told = Latch()

  /// Opens when the server's first attempt to listen is over: it listens, has failed, or is not configured.
  func attempted(_ server: Server) -> Latch {
    switch server {
    case .resp: resp
    case .monitoring: monitoring
    }
  }

  /// Those whose first attempt to listen goes on.
  var attempting: [Server] { Server.allCases.filter { !attempted($0).isOpen } }
}
