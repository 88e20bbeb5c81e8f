import NIOCore

/// What one connection may cost: so many bytes of a request, so much time in all. Sits before everything that parses.
///
/// A client that is silent, sends a byte now and then, or does not read what it asked for, loses its place when the time is over.
final class ConnectionBounds: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let byteLimit: Int
  private let timeLimit: TimeAmount
  private var byteCount = 0
  private var deadline: Scheduled<Void>?

  init(byteLimit: Int, timeLimit: TimeAmount) {
    self.byteLimit = byteLimit
    self.timeLimit = timeLimit
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: timeLimit) { channel.close(promise: nil) }
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let wasWithin = byteCount <= byteLimit
    byteCount += unwrapInboundIn(data).readableBytes
    if byteCount <= byteLimit {
      context.fireChannelRead(data)
    } else if wasWithin {
      context.fireErrorCaught(OversizedRequest())
    }
    // Thrown away beyond that. Were the connection closed with bytes unread, the system would take the answer back.
  }
}
