import NIOCore

/// Why a connection is not served. Its client is told that, and nothing else.
struct ConnectionRefusal {
  private let message: String

  static var tooMany: ConnectionRefusal { ConnectionRefusal(message: "ERR max number of clients reached") }

  private init(message: String) { self.message = message }

  /// - Returns: nil if the user at the other end may connect.
  init?(of peer: PeerCredentials?, _ state: ServerState) {
    guard let users = state.options.users else { return nil }
    guard let peer else {
      self.init(message: "NOPERM this connection tells no user, and only some may connect")
      return
    }
    if users.contains(peer.user) { return nil }
    self.init(
      message:
        "NOPERM user \(peer.user) is not among those who may connect; an administrator adds them to 'resp: users'")
  }

  /// Answers as soon as the connection is there, and ends it.
  func tell(_ channel: any Channel) throws {
    var reply = Reply()
    reply.error(message)
    try channel.pipeline.syncOperations.addHandler(RefusalHandler(reply.buffer))
  }
}

private final class RefusalHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let message: ByteBuffer

  init(_ message: ByteBuffer) { self.message = message }

  func channelActive(context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(message), promise: nil)
    context.close(promise: nil)
  }
}
