import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import ToolSupport

/// Serves pages over HTTP on a Unix socket, on loopback TCP, or both: one request a connection, each within bounds.
///
/// One event loop of its own serves all connections, so that whoever makes the pages is not held up by who reads them.
public final class StatusServer: Sendable {
  private let options: StatusServerOptions
  private let pages: @Sendable (String) -> Page?
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let listeners = Mutex<[any Channel]>([])
  /// What ``start()`` has made at the options' path.
  private let socketFile = Mutex<SocketFile?>(nil)
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
    var passed = options.bound
    do {
      if let path = options.socket { try await bind(path: path) }
      if let address = options.listen { try await bind(address) }
      while let descriptor = passed.first {
        let kind = try BoundSocket.kind(of: descriptor)
        passed.removeFirst()
        try await serve(descriptor, isTCP: kind == .tcp)
      }
    } catch {
      for descriptor in passed { close(descriptor) }
      await stop()
      throw error
    }
  }

  /// Ends all connections, and removes the socket.
  public func stop() async {
    let bound = listeners.withLock { listeners in
      defer { listeners = [] }
      return listeners
    }
    socketFile.withLock { $0.take() }?.remove()
    for listener in bound { try? await listener.close() }
    try? await group.shutdownGracefully()
  }

  /// The port of the TCP listener; for who asked for any (0).
  public var port: Int? { listeners.withLock { $0.compactMap { $0.localAddress?.port }.first } }

  // MARK: - Listeners

  private func bind(path: String) async throws {
    let file = try SocketFile.bind(path, mode: options.socketMode)
    do {
      let channel = try await bootstrap(isTCP: false).withBoundSocket(file.descriptor).get()
      listeners.withLock { $0.append(channel) }
      socketFile.withLock { $0 = file }
    } catch {
      file.remove()
      throw ListenFailure(path: path, error)
    }
  }

  private func bind(_ address: (host: String, port: Int)) async throws {
    do {
      let channel = try await bootstrap(isTCP: true).bind(host: address.host, port: address.port).get()
      listeners.withLock { $0.append(channel) }
    } catch {
      throw ListenFailure(host: address.host, port: address.port, error)
    }
  }

  private func serve(_ descriptor: Int32, isTCP: Bool) async throws {
    do {
      let channel = try await bootstrap(isTCP: isTCP).withBoundSocket(descriptor).get()
      listeners.withLock { $0.append(channel) }
    } catch {
      throw ListenFailure(descriptor: descriptor, error)
    }
  }

  private func bootstrap(isTCP: Bool) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 64)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      // A client that has sent all it has to say may say so, and still reads the answer.
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 4096))
      .childChannelInitializer { [self] channel in accept(channel, isTCP: isTCP) }
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
