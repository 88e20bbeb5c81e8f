/// Where one of the daemon's servers listens, as a configuration says it below the server's key.
struct Listening: Sendable, Equatable {
  /// A port of this host alone.
  struct Address: Sendable, Equatable, CustomStringConvertible {
    var host: String
    var port: Int

    /// As a configuration writes it.
    var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
  }

  /// The word for the sockets that the service manager passes.
  static let passed = "systemd"

  /// A path, or ``passed``.
  var socket: String?
  var mode: UInt32?
  var listen: Address?

  /// Whether it counts on sockets that the service manager passes.
  var isPassed: Bool { socket == Self.passed }

  /// The path of the socket that the server is to make.
  var path: String? { isPassed ? nil : socket }

  /// As a configuration writes it, a text for each key that is there.
  var written: [String] {
    let parts = [
      socket.map { "socket: \(ConfigurationText.quoted($0))" }, mode.map { "mode: \"0\(String($0, radix: 8))\"" },
      listen.map { "listen: \"\($0)\"" },
    ]
    return parts.compactMap(\.self)
  }
}

/// The keys that say where a server listens.
enum ListeningKeyword: String, CaseIterable, Sendable {
  case socket
  case mode
  case listen
}

extension ConfigurationReader {
  /// Reads where a server listens.
  /// - Parameters:
  ///   - node: the server's.
  ///   - server: its key.
  ///   - values: what is below it, of other keys too.
  ///   - port: the one that a complaint proposes.
  mutating func readListening(
    _ node: Node, _ server: String, _ values: [(key: String, value: Node)], port: Int
  ) -> Listening {
    var listening = Listening()
    for (key, value) in values {
      switch ListeningKeyword(rawValue: key) {
      case .socket: listening.socket = scalar(value, "\(server): socket", Scalars.socketPath)
      case .mode: listening.mode = scalar(value, "\(server): mode", Scalars.socketMode)
      case .listen: listening.listen = scalar(value, "\(server): listen", Scalars.loopbackAddress)
      case nil: break
      }
    }
    let places: [ListeningKeyword] = [.socket, .listen]
    if !values.contains(where: { value in places.contains { $0.rawValue == value.key } }) {
      complain(node, "\(server) listens nowhere; give it a 'socket', or 'listen: 127.0.0.1:\(port)', or both")
    }
    if listening.isPassed, listening.mode != nil {
      complain(node, "\(server): 'mode' is of a socket that shmd makes; write SocketMode= in the socket unit")
    }
    return listening
  }
}
