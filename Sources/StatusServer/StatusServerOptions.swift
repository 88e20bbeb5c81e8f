public import NIOCore

/// Where a status server listens, and what a client may ask of it.
public struct StatusServerOptions: Sendable {
  /// The path of a Unix socket.
  public var socket: String?
  public var socketMode: UInt32 = 0o660
  /// Of this host only: nothing is encrypted, and nobody is asked who he is.
  public var listen: (host: String, port: Int)?
  /// Sockets that others have bound, Unix or loopback TCP: the server's to close, and their files others' to remove.
  public var bound: [Int32] = []
  /// Connections at once. As many more are told so, and have their descriptor until their clients end them; others are closed at once.
  public var connectionLimit = Self.defaultConnectionLimit
  /// Bytes of a request, its headers and a body included.
  public var requestByteLimit = 16 << 10
  /// From a connection's beginning to its end.
  public var timeLimit: TimeAmount = .seconds(10)

  public static let defaultConnectionLimit = 64

  public init(socket: String?, listen: (host: String, port: Int)?) {
    self.socket = socket
    self.listen = listen
  }
}
