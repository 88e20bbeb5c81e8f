import NIOCore
import Synchronization

/// What others know of a connection: for `CLIENT LIST`, and to send it what it did not ask for.
@safe
final class ClientRecord: Sendable {
  /// What may change.
  struct Settings: Sendable {
    var name = ""
    var library = ""
    var libraryVersion = ""
    var database = 0
    var version = 2
    var subscriptions = (channels: 0, patterns: 0)
    /// Nil: it tracks no keys.
    var tracking: TrackingTarget?

    var kind: Kind { subscriptions.channels + subscriptions.patterns > 0 ? .subscriber : .normal }
  }

  /// Which client the server tells of changes to the keys that a client tracks.
  enum TrackingTarget: Sendable {
    case itself
    case other(Int)
  }

  /// As `CLIENT LIST` and `CLIENT KILL` tell clients apart.
  enum Kind: Sendable {
    case normal
    case subscriber
  }

  /// What is sent without a question.
  enum Push: Sendable {
    case message(channel: [UInt8], [UInt8])
    case patternMessage(pattern: [UInt8], channel: [UInt8], [UInt8])
    /// Keys; nil: forget everything.
    case invalidate([[UInt8]]?)
    /// Keys as ``invalidate(_:)`` has them, for a RESP2 client that listens in another's name.
    case invalidateMessage([[UInt8]]?)
    /// The client of this number, which was to be told, is gone.
    case redirectionBroken(Int)
  }

  /// Bytes of a client's name, and of its library's name and version: the server keeps them, and `CLIENT LIST` tells those of all.
  static let longestName = 1024

  let id: Int
  let address: String
  /// Of this server's end.
  let localAddress: String
  let peer: PeerCredentials?
  /// What it may do; nil for everything.
  let access: ClientAccess?
  let begin = ContinuousClock.now
  private let settings = Mutex(Settings())
  private let commandCount = Atomic(0)
  /// Commands live as long as the process.
  private let lastCommand = unsafe Atomic<Unmanaged<Command>?>(nil)
  private let queued = Atomic(-1)
  /// By the clock of the event loop.
  private let lastInput = Atomic(NIODeadline.now().uptimeNanoseconds)
  private let send: @Sendable (Push) -> Void
  private let disconnect: @Sendable (CommandError?) -> Void

  init(
    id: Int, address: String, localAddress: String, peer: PeerCredentials?, access: ClientAccess?,
    send: @escaping @Sendable (Push) -> Void, disconnect: @escaping @Sendable (CommandError?) -> Void
  ) {
    self.id = id
    self.address = address
    self.localAddress = localAddress
    self.peer = peer
    self.access = access
    self.send = send
    self.disconnect = disconnect
  }

  // MARK: - Told by the connection's session: one thread at a time writes, others read what may be a moment old

  var commands: Int { commandCount.load(ordering: .relaxed) }
  /// No other thread counts meanwhile, so that it takes no atomic addition.
  func count() { commandCount.store(commands &+ 1, ordering: .relaxed) }

  func begin(_ command: Command) { unsafe lastCommand.store(.passUnretained(command), ordering: .relaxed) }

  /// Bytes have arrived.
  func noteInput() { lastInput.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed) }

  /// How many commands wait for EXEC; nil outside MULTI.
  func noteQueued(_ count: Int?) { queued.store(count ?? -1, ordering: .relaxed) }

  // MARK: - Settings

  var current: Settings { settings.withLock { $0 } }
  func update(_ change: (inout Settings) -> Void) { settings.withLock { change(&$0) } }

  func mayRead(_ key: [UInt8], of table: Int) -> Bool { access?.mayRead(key, of: table) ?? true }

  func deliver(_ push: Push) { send(push) }
  /// Ends the connection.
  /// - Parameter reason: is told to the client, as far as it still reads.
  func end(telling reason: CommandError? = nil) { disconnect(reason) }
}

// MARK: - CLIENT LIST

extension ClientRecord {
  /// As `CLIENT LIST` writes it. Clients of Redis read some fields as numbers and fail where one is missing: of what is not counted
  /// here (buffers, memory) it says 0.
  var line: String {
    let now = current
    let library = "lib-name=\(now.library) lib-ver=\(now.libraryVersion)"
    let user = peer.map { " uid=\($0.user) pid=\($0.process)" } ?? ""
    return
      "id=\(id) addr=\(address) laddr=\(localAddress) fd=-1 name=\(now.name) age=\(age) idle=\(idle) flags=\(flags(now)) "
      + "db=\(now.database) sub=\(now.subscriptions.channels) psub=\(now.subscriptions.patterns) ssub=0 "
      + "multi=\(queued.load(ordering: .relaxed)) qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 "
      + "tot-mem=0 events=r cmd=\(commandName) user=\(Self.userName) redir=\(redirection(now)) resp=\(now.version) "
      + "\(library) tot-cmds=\(commands)\(user)"
  }

  /// The one that there is: who connects is admitted by the socket.
  static let userName = "default"

  private var age: Int64 { (ContinuousClock.now - begin).components.seconds }

  private var idle: UInt64 {
    let (now, last) = (NIODeadline.now().uptimeNanoseconds, lastInput.load(ordering: .relaxed))
    return now > last ? (now - last) / 1_000_000_000 : 0
  }

  private var commandName: String { unsafe lastCommand.load(ordering: .relaxed)?.takeUnretainedValue().name ?? "NULL" }

  private func flags(_ now: Settings) -> String {
    var flags = ""
    if case .subscriber = now.kind { flags += "P" }
    if queued.load(ordering: .relaxed) >= 0 { flags += "x" }
    if now.tracking != nil { flags += "tB" }
    if peer != nil { flags += "U" }
    return flags.isEmpty ? "N" : flags
  }

  /// The number of the client that is told of tracked keys; 0: itself, -1: none is.
  private func redirection(_ now: Settings) -> Int {
    switch now.tracking {
    case .other(let id): id
    case .itself: 0
    case nil: -1
    }
  }
}
