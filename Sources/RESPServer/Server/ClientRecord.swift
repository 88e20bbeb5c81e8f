import Synchronization

/// What others know of a connection: for `CLIENT LIST`, and to send it what it did not ask for.
final class ClientRecord: Sendable {
  /// What may change.
  struct Settings: Sendable {
    var name = ""
    var library = ""
    var libraryVersion = ""
    var database = 0
    var version = 2
    var subscriptions = (channels: 0, patterns: 0)
    var isInTransaction = false
    var isTracking = false
    var lastCommand = "NULL"
  }

  /// What is sent without a question.
  enum Push: Sendable {
    case message(channel: [UInt8], [UInt8])
    case patternMessage(pattern: [UInt8], channel: [UInt8], [UInt8])
    /// Keys; nil: forget everything.
    case invalidate([[UInt8]]?)
    /// The same for a RESP2 client that listens in another's name.
    case invalidateMessage([[UInt8]]?)
    /// The client of this number, which was to be told, is gone.
    case redirectionBroken(Int)
  }

  let id: Int
  let address: String
  let peer: PeerCredentials?
  /// What it may do; nil for everything.
  let access: ClientAccess?
  let begin = ContinuousClock.now
  private let settings = Mutex(Settings())
  private let commandCount = Atomic(0)
  private let send: @Sendable (Push) -> Void
  private let disconnect: @Sendable () -> Void

  init(
    id: Int, address: String, peer: PeerCredentials?, access: ClientAccess?,
    send: @escaping @Sendable (Push) -> Void, disconnect: @escaping @Sendable () -> Void
  ) {
    self.id = id
    self.address = address
    self.peer = peer
    self.access = access
    self.send = send
    self.disconnect = disconnect
  }

  var commands: Int { commandCount.load(ordering: .relaxed) }
  /// For the connection's session alone: no other thread counts meanwhile, so that it takes no atomic addition.
  func count() { commandCount.store(commands &+ 1, ordering: .relaxed) }

  var current: Settings { settings.withLock { $0 } }
  func update(_ change: (inout Settings) -> Void) { settings.withLock { change(&$0) } }

  func mayRead(_ key: [UInt8], of table: Int) -> Bool { access?.mayRead(key, of: table) ?? true }

  func deliver(_ push: Push) { send(push) }
  func end() { disconnect() }

  /// As `CLIENT LIST` writes it.
  var line: String {
    let now = current
    let age = (ContinuousClock.now - begin).components.seconds
    let flags = now.subscriptions.channels + now.subscriptions.patterns > 0 ? "P" : now.isInTransaction ? "x" : "N"
    let user = peer.map { " uid=\($0.user) pid=\($0.process)" } ?? ""
    return "id=\(id) addr=\(address) name=\(now.name) age=\(age) flags=\(flags) db=\(now.database) "
      + "sub=\(now.subscriptions.channels) psub=\(now.subscriptions.patterns) tot-cmds=\(commands) "
      + "cmd=\(now.lastCommand) user=default resp=\(now.version) lib-name=\(now.library) lib-ver=\(now.libraryVersion)"
      + user
  }
}
