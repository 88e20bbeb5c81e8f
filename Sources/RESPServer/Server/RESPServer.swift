import HostSockets
import NIOCore
import NIOPosix
public import UpstreamWrites

/// Serves tables of this host to Redis' clients.
///
/// One event loop reads, answers and writes for all connections; each table has a lane, a thread for what would have to
/// wait.
public final class RESPServer: Sendable {
  private let state: ServerState
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let listeners = HostListeners()

  /// - Parameter upstream: takes writes to tables that mirror another store; nil: they are refused.
  public init(_ options: ServerOptions, upstream: (any UpstreamWriter)? = nil) {
    precondition(!options.tables.isEmpty, "a server without tables has nothing to serve")
    state = ServerState(options, upstream: upstream)
  }

  /// Binds what the options name, and serves from then on.
  /// - Throws: ``ListenFailure``; then nothing is bound, and what was bound by others is closed.
  public func start() async throws {
    do {
      try await listeners.open(
        socket: state.options.socket, mode: state.options.socketMode,
        address: state.options.listen.map { ($0.host, $0.port) },
        bound: state.options.bound, by: bootstrap)
    } catch {
      await stop()
      throw error
    }
    group.next().scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { [state] _ in
      for database in state.databases { database.refresh() }
      state.broker.awaitTables()
    }
  }

  /// Ends all connections, and removes the socket.
  public func stop() async {
    state.broker.stop()
    await listeners.close()
    try? await group.shutdownGracefully()
    for database in state.databases { database.stop() }
  }

  /// The port of the TCP listener; for who asked for any (0).
  public var port: Int? { listeners.port }

  private func bootstrap(_ kind: BoundSocket.Kind) -> ServerBootstrap {
    let state = state
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 512)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 16384, maximum: 262_144)
      )
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 256 << 10, high: 4 << 20))
      .childChannelInitializer { channel in Self.accept(channel, state) }
    return kind == .tcp ? bootstrap.childChannelOption(.tcpOption(.tcp_nodelay), value: 1) : bootstrap
  }

  // MARK: - Connections

  private static func accept(_ channel: any Channel, _ state: ServerState) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture {
      let rules = state.options.access
      let peer = try channel.pipeline.syncOperations.peerCredentials(of: channel, withGroups: rules != nil)
      let id = state.nextID()
      func written(_ address: SocketAddress?) -> String {
        guard let address else { return "?" }
        return address.port.map { "\(address.ipAddress ?? "?"):\($0)" } ?? "\(state.options.socket ?? ""):0"
      }
      let loop = channel.eventLoop
      let outbox = Outbox(limit: UnreadBytes.most)
      let holder = HandlerHolder()
      let bound = NIOLoopBound(holder, eventLoop: loop)
      let client = ClientRecord(
        id: id, address: written(channel.remoteAddress), localAddress: written(channel.localAddress), peer: peer,
        access: rules.map { ClientAccess($0, peer, tables: state.databases.map(\.name)) },
        send: { push in
          switch outbox.add(push) {
          case .nothing: break
          case .call: loop.execute { bound.value.handler?.deliver(outbox.take()) }
          case .disconnect: loop.execute { bound.value.handler?.disconnect() }
          }
        },
        disconnect: { reason in loop.execute { bound.value.handler?.disconnect(telling: reason) } })
      if let refusal = ConnectionRefusal(of: peer, state) { return try refusal.tell(channel) }
      guard state.enter(client) else { return try ConnectionRefusal.tooMany.tell(channel) }
      let handler = ConnectionHandler(Session(server: state, client: client), state)
      holder.handler = handler
      try channel.pipeline.syncOperations.addHandler(handler)
    }
  }
}

/// The handler of a connection, for its record, which is made first.
private final class HandlerHolder {
  weak var handler: ConnectionHandler?
}
