import Synchronization
import UpstreamWrites

/// What all connections of a server share.
final class ServerState: Sendable {
  private struct State {
    var clients: [Int: ClientRecord] = [:]
    var lastID = 0
    var connections = 0
    var rejected = 0
    /// Of connections that have ended.
    var endedCommands = 0
    /// What was counted at the last CONFIG RESETSTAT.
    var forgotten = Counts()
    var configuration = ServerConfiguration()

    /// All that was ever counted.
    var counts: Counts {
      let commands = clients.values.reduce(endedCommands) { $0 + $1.commands }
      return Counts(connections: connections, rejected: rejected, commands: commands)
    }
  }

  /// Since the server began, or since the last CONFIG RESETSTAT.
  struct Counts {
    var connections = 0
    var rejected = 0
    var commands = 0
  }

  let options: ServerOptions
  /// Takes writes to mirrored tables; nil: they are refused.
  let upstream: (any UpstreamWriter)?
  let databases: [Database]
  let broker: Broker
  let heldBytes: HeldBytes
  let begin = ContinuousClock.now
  /// Seconds since 1970.
  let beginTime: Int
  private let state = Mutex(State())

  init(_ options: ServerOptions, upstream: (any UpstreamWriter)?) {
    self.options = options
    self.upstream = upstream
    databases = options.tables.enumerated().map { Database(index: $0.offset, $0.element) }
    broker = Broker(databases)
    heldBytes = HeldBytes(most: options.mostHeldBytes)
    beginTime = WallTime.now.seconds
  }

  /// The table that SELECT names: by its place among those that are served, or by a slash and its name, which has none.
  func database(_ selected: Bytes) throws(CommandError) -> Database {
    if selected.count > 0, selected[0] == UInt8(ascii: "/") {
      let name = selected.text.dropFirst()
      guard let database = databases.first(where: { $0.name == name }) else {
        throw CommandError("ERR no table of that name is served here; name it in 'resp: tables'")
      }
      return database
    }
    guard let index = selected.integer else { throw .notAnInteger }
    guard databases.indices.contains(index) else { throw CommandError("ERR DB index is out of range") }
    return databases[index]
  }

  // MARK: - Clients

  func nextID() -> Int {
    state.withLock { state in
      state.lastID += 1
      state.connections += 1
      return state.lastID
    }
  }

  /// - Returns: false if there are as many as there may be.
  func enter(_ client: ClientRecord) -> Bool {
    state.withLock { state in
      guard state.clients.count < options.mostClients else {
        state.rejected += 1
        return false
      }
      state.clients[client.id] = client
      return true
    }
  }

  func leave(_ client: ClientRecord, _ subscriptions: Subscriptions) {
    state.withLock { state in
      // One that was refused never was among them.
      if state.clients.removeValue(forKey: client.id) != nil { state.endedCommands += client.commands }
    }
    heldBytes.forget(client.id)
    broker.forget(client, subscriptions)
  }

  /// Notes how many bytes of a client the server holds. If those of all are too many, the client with the most is told so, and ended.
  func noteHeld(_ bytes: Int, of client: ClientRecord) {
    guard let largest = heldBytes.note(bytes, of: client.id) else { return }
    self.client(largest)?.end(telling: .tooMuchHeld)
  }

  var clients: [ClientRecord] { state.withLock { $0.clients.values.sorted { $0.id < $1.id } } }
  func client(_ id: Int) -> ClientRecord? { state.withLock { $0.clients[id] } }

  // MARK: - Counts

  var counts: Counts {
    state.withLock { state in
      let all = state.counts
      return Counts(
        connections: all.connections - state.forgotten.connections, rejected: all.rejected - state.forgotten.rejected,
        commands: all.commands - state.forgotten.commands)
    }
  }

  func forgetCounts() { state.withLock { $0.forgotten = $0.counts } }

  // MARK: - CONFIG

  var configuration: ServerConfiguration { state.withLock { $0.configuration } }

  func configure(_ change: (inout ServerConfiguration) throws -> Void) rethrows {
    let flags = try state.withLock { state in
      try change(&state.configuration)
      return state.configuration.notifications
    }
    broker.setNotifications(flags)
  }
}
