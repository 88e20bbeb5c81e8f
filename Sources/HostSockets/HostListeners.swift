import Glibc
import NIOCore
public import NIOPosix
import Synchronization

/// What a server of this host listens on: a Unix socket that it makes, an address of loopback TCP, and sockets that others have bound.
public final class HostListeners: Sendable {
  private let channels = Mutex<[any Channel]>([])
  private let socketFile = Mutex<SocketFile?>(nil)

  public init() {}

  /// Binds and listens, on all of these.
  /// - Parameters:
  ///   - socket: the path of a Unix socket to make; nil for none.
  ///   - mode: of that socket: a client that may write to it may connect.
  ///   - address: of loopback TCP; nil for none.
  ///   - bound: descriptors of sockets, closed by ``close()``, or here if this throws.
  ///   - bootstrap: what accepts the connections of a listener of this kind.
  /// - Throws: ``ListenFailure``. The caller then calls ``close()``, which ends those that listen already.
  public func open(
    socket: String?, mode: UInt32, address: (host: String, port: Int)?, bound: [Int32],
    by bootstrap: (BoundSocket.Kind) -> ServerBootstrap
  ) async throws {
    var passed = bound
    defer { for descriptor in passed { Glibc.close(descriptor) } }
    if let socket { try await make(socket, mode, bootstrap(.unix)) }
    if let (host, port) = address {
      let listener = bootstrap(.tcp).bind(host: host, port: port)
      try await add(listener) { ListenFailure(host: host, port: port, $0) }
    }
    while let descriptor = passed.first {
      let kind = try BoundSocket.kind(of: descriptor)
      passed.removeFirst()
      try await add(bootstrap(kind).withBoundSocket(descriptor)) { ListenFailure(descriptor: descriptor, $0) }
    }
  }

  private func make(_ path: String, _ mode: UInt32, _ bootstrap: ServerBootstrap) async throws {
    let file = try SocketFile.bind(path, mode: mode)
    do {
      try await add(bootstrap.withBoundSocket(file.descriptor)) { ListenFailure(path: path, $0) }
    } catch {
      file.remove()
      throw error
    }
    socketFile.withLock { $0 = file }
  }

  private func add(_ listener: EventLoopFuture<any Channel>, explaining: (any Error) -> ListenFailure) async throws {
    do {
      let channel = try await listener.get()
      channels.withLock { $0.append(channel) }
    } catch {
      throw explaining(error)
    }
  }

  /// Ends the listening, and removes the socket that ``open(socket:mode:address:bound:by:)`` has made.
  public func close() async {
    let open = channels.withLock { channels in
      defer { channels = [] }
      return channels
    }
    // Before its descriptor is closed: see SocketFile.remove().
    socketFile.withLock { $0.take() }?.remove()
    for channel in open { try? await channel.close() }
  }

  /// The port of the TCP listener; for who asked for any (0).
  public var port: Int? { channels.withLock { $0.compactMap { $0.localAddress?.port }.first } }
}
