/// Where the server listens, and what it serves to whom.
public struct ServerOptions: Sendable, Equatable {
  /// A table of this host.
  public struct ServedTable: Sendable, Equatable {
    public var name: String
    /// A user whose tables are used beside root's, the daemon's and one's own.
    public var owner: UInt32?

    public init(name: String, owner: UInt32? = nil) {
      self.name = name
      self.owner = owner
    }
  }

  /// An address on this host.
  public struct Address: Sendable, Equatable {
    public var host: String
    public var port: Int

    public init(host: String, port: Int) {
      self.host = host
      self.port = port
    }
  }

  /// Path of the Unix socket; nil for none.
  public var socket: String?
  /// Permission bits of the socket: who may write to it may connect.
  public var socketMode: UInt32 = 0o660
  /// Loopback TCP; nil for none.
  public var listen: Address?
  /// Sockets that others have bound, Unix or loopback TCP: the server's to close, and their files others' to remove.
  public var bound: [Int32] = []
  /// `SELECT 0` is the first of them.
  public var tables: [ServedTable]
  /// Users who may connect, by what the kernel says of the other end; nil for all whom the socket's mode admits.
  public var users: Set<UInt32>?
  /// What those who connect may do; nil for everything.
  public var access: [AccessRule]?
  /// More connections than this are refused.
  public var mostClients = 10_000

  public init(socket: String? = nil, listen: Address? = nil, tables: [ServedTable]) {
    self.socket = socket
    self.listen = listen
    self.tables = tables
  }

  /// Limits of what one client may make the server hold.
  var frames = FrameParser.Limits()
  /// Bytes that clients have sent and the server holds, of all connections together: twice what one command may have.
  var mostHeldBytes = 2 << 30
  /// Bytes that are answered to one command, or to one transaction.
  var largestReply = Reply.largest
  /// After this, a transaction carries out no other command that may take long.
  var longestTransaction = Duration.seconds(1)
}
