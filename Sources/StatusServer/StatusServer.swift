import HostSockets
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Serves pages over HTTP on a Unix socket, on loopback TCP, or both: one request a connection, each within bounds.
///
/// One event loop of its own serves all connections, so that whoever makes the pages is not held up by who reads them.
public final class StatusServer: Sendable {
  private let options: StatusServerOptions
  private let pages: @Sendable (String) -> Page?
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let listeners = HostListeners()
  /// Connections that are served, and those that are told that there is no room.
  private let counts = Mutex((served: 0, refused: 0))

  /// - Parameter pages: the page at a path, nil if there is none. Called on the event loop: it must not wait for anybody.
  public init(_ options: StatusServerOptions, pages: @escaping @Sendable (String) -> Page?) {
    self.options = options
    self.pages = pages
  }

  /// Binds what the options name, and serves from then on.
  /// - Throws: ``ListenFailure``; then nothing is bound, and what was bound by others is closed.
  public func start() async throws {
    do {
      try await listeners.open(
        socket: options.socket, mode: options.socketMode, address: options.listen,
        bound: options.bound, by: bootstrap)
    } catch {
      await stop()
      throw error
    }
  }

  /// Ends all connections, and removes the socket.
  public func stop() async {
    await listeners.close()
    try? await group.shutdownGracefully()
  }

  /// The port of the TCP listener; for who asked for any (0).
  public var port: Int? { listeners.port }

  private func bootstrap(_ kind: BoundSocket.Kind) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 64)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      // A client that has sent all it has to say may say so, and still reads the answer.
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 4096))
      .childChannelInitializer { [self] channel in accept(channel, isTCP: kind == .tcp) }
  }

  // MARK: - Connections

  private func accept(_ channel: any Channel, isTCP: Bool) -> EventLoopFuture<Void> {
    let isRoom = enter()
    if let isRoom { channel.closeFuture.whenComplete { [self] _ in leave(wasServed: isRoom) } }
    return channel.eventLoop.makeCompletedFuture { [self] in
      // Closed without a word: to be told takes a descriptor until its client has read it.
      guard let isRoom else { throw TooManyConnections() }
      let pipeline = channel.pipeline.syncOperations
      let answer = RequestHandler(options, pages: pages, isTCP: isTCP, isRefused: !isRoom)
      try pipeline.addHandler(ConnectionBounds(byteLimit: options.requestByteLimit, timeLimit: options.timeLimit))
      try pipeline.addHandler(HTTPResponseEncoder())
      try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)))
      try pipeline.addHandler(answer)
    }
  }

  /// - Returns: whether the connection is to be served; nil if there are too many even to be told.
  private func enter() -> Bool? {
    counts.withLock { counts in
      if counts.served < options.connectionLimit {
        counts.served += 1
        return true
      }
      guard counts.refused < options.connectionLimit else { return nil }
      counts.refused += 1
      return false
    }
  }

  private func leave(wasServed: Bool) {
    counts.withLock { if wasServed { $0.served -= 1 } else { $0.refused -= 1 } }
  }
}

/// Ends a connection that is not even told why.
private struct TooManyConnections: Error {}
