import NIOCore
import SharedTable

/// A connection on its event loop: bytes in, the session's work, one write for all that a burst asked for.
///
/// Nothing is read ahead: the next bytes are asked for when what has arrived is answered and sent, so a client that does
/// not read its answers, and one whose command waits in a lane, hold no more than what they have sent already.
final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Bytes of what the client did not ask for that one write takes, about.
  private static let writtenAtOnce = 64 << 10

  private let session: Session
  private let server: ServerState
  private var context: ChannelHandlerContext?
  /// A lane has the session.
  private var isInLane = false
  /// Less waits to be sent than would be enough: as the channel told at last.
  private var isWritable = true
  /// Enough waits to be sent; go on when it is.
  private var isWaitingToWrite = false
  /// WAITAOF is not answered yet: what waits for the store, and what would answer it at its end.
  private var diskWait: (watch: Watch, end: Scheduled<Void>?)?
  private var hasInput = false
  /// What arrived while a lane had the session: at the end of its input a socket is read empty, whoever asked for it.
  private var early: ByteBuffer?
  /// The client has closed its side: what it asked for is answered, and then the connection ends.
  private var isInputClosed = false
  private var isClosing = false
  private var isEnding = false
  private var unread = UnreadBytes()
  /// How much of what the client has sent was told to be held.
  private var notedBytes = 0
  /// What the client is to be told since a lane has the session. It is sent behind the answers that the lane makes: a client that begins
  /// to listen by one of them would take it for that answer, and a client that caches would keep an answer that is older than it.
  private var held: [ClientRecord.Push] = []

  init(_ session: Session, _ server: ServerState) {
    self.session = session
    self.server = server
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func channelActive(context: ChannelHandlerContext) { context.read() }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Whatever went wrong with a socket, there is nobody left to tell.
    context.close(promise: nil)
  }

  private func end() {
    context = nil
    if !isInLane { close() }
  }

  private func close() {
    guard !isEnding else { return }
    isEnding = true
    leaveDiskWait()
    server.leave(session.client, session.subscriptions)
  }

  // MARK: - Bytes

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    if !isInLane {
      session.receive(&bytes)
    } else if early == nil {
      early = bytes
    } else {
      early!.writeBuffer(&bytes)
    }
    hasInput = true
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    guard hasInput else { return context.read() }
    hasInput = false
    session.client.noteInput()
    proceed()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
    isInputClosed = true
    proceed()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    isWritable = context.channel.isWritable
    if isWritable, isWaitingToWrite {
      isWaitingToWrite = false
      proceed()
    }
    context.fireChannelWritabilityChanged()
  }

  private func proceed() {
    guard let context, !isInLane, diskWait == nil, !isClosing, !isEnding else { return }
    while true {
      let outcome = session.run()
      noteHeld()
      if session.reply.count > 0 {
        // No reference to the buffer stays here: what the socket takes at once leaves its memory to the next reply.
        context.writeAndFlush(wrapOutboundOut(session.reply.buffer), promise: nil)
        session.forgetReply()
      }
      sendHeld()
      switch outcome {
      case .needsInput:
        if isInputClosed { return closeWhenSent(context) }
        if isWritable { context.read() } else { isWaitingToWrite = true }
        return
      case .outputFull:
        if isWritable { continue }
        isWaitingToWrite = true
        return
      case .turnIsOver:
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        // Not at once: the loop would do that before it looks at other connections.
        context.eventLoop.scheduleTask(in: .milliseconds(1)) { bound.value.proceed() }
        return
      case .wait(let lane):
        return hand(to: lane, context)
      case .waitForDisk(let wait):
        return waitForDisk(wait, context)
      case .close:
        return closeWhenSent(context)
      }
    }
  }

  /// Closing at once would drop the answers that the socket has not taken yet.
  private func closeWhenSent(_ context: ChannelHandlerContext) {
    isClosing = true
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in bound.value.disconnect() }
  }

  private func hand(to lane: Lane, _ context: ChannelHandlerContext) {
    isInLane = true
    let session = session
    let loop = context.eventLoop
    let bound = NIOLoopBound(self, eventLoop: loop)
    lane.run { patience in
      session.runOne(patience: patience)
      loop.execute { bound.value.takeBack() }
    }
  }

  private func takeBack() {
    isInLane = false
    if context == nil { return close() }
    if var bytes = early {
      early = nil
      session.receive(&bytes)
    }
    proceed()
  }

  private func waitForDisk(_ wait: DiskWait, _ context: ChannelHandlerContext) {
    let loop = context.eventLoop
    let bound = NIOLoopBound(self, eventLoop: loop)
    let goOn: @Sendable () -> Void = { bound.value.goOn() }
    let end = wait.end.map { end in
      loop.scheduleTask(in: TimeAmount(max(.zero, end - .now)), goOn)
    }
    let watch = wait.watch!
    diskWait = (watch, end)
    do {
      try watch.wait(for: .disk(wait.targets[0].version)) { loop.execute(goOn) }
    } catch {
      // No thread can be started that waits: the command, carried out anew, is told so and answers it.
      loop.execute(goOn)
    }
  }

  /// The command looks by itself what has come about, and waits again for what has not.
  private func goOn() {
    leaveDiskWait()
    proceed()
  }

  private func leaveDiskWait() {
    // The watch ends with its last reference.
    diskWait?.end?.cancel()
    diskWait = nil
  }

  // MARK: - What was not asked for

  func deliver(_ pushes: [ClientRecord.Push]) {
    guard let context, !isEnding else { return }
    guard isInLane else { return send(pushes, context) }
    held += pushes
    if !unread.add(pushes.reduce(0) { $0 + $1.byteCount }) { context.close(promise: nil) }
  }

  private func sendHeld() {
    guard !held.isEmpty else { return }
    let pushes = held
    held = []
    unread.remove(pushes.reduce(0) { $0 + $1.byteCount })
    if let context, !isEnding { send(pushes, context) }
  }

  /// Many in a write: one that the socket does not take at once costs several times what a short message does.
  private func send(_ pushes: [ClientRecord.Push], _ context: ChannelHandlerContext) {
    let (client, version) = (session.client, session.client.current.version)
    var reply = Reply()
    reply.version = version
    for push in pushes where version == 3 || session.server.broker.isExpected(push, by: client) {
      push.encode(into: &reply)
      guard reply.count >= Self.writtenAtOnce else { continue }
      guard write(reply.buffer, context) else { return }
      reply = Reply()
      reply.version = version
    }
    if reply.count == 0 || write(reply.buffer, context) { context.flush() }
  }

  /// Without a flush.
  /// - Returns: false if the client leaves too much unread: then its connection is ended.
  private func write(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
    let count = bytes.readableBytes
    guard unread.add(count) else {
      context.close(promise: nil)
      return false
    }
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.write(wrapOutboundOut(bytes)).whenComplete { _ in bound.value.unread.remove(count) }
    return true
  }

  /// Closes the connection. The server does not wait for a client that does not read.
  /// - Parameter reason: the server tells it the client, unless a lane is making the client's answers just now.
  func disconnect(telling reason: CommandError? = nil) {
    guard let context else { return }
    if let reason, !isInLane {
      var reply = Reply()
      reply.error(reason.bytes)
      context.writeAndFlush(wrapOutboundOut(reply.buffer), promise: nil)
    }
    context.close(promise: nil)
  }

  /// Tells how much is held of what the client has sent.
  private func noteHeld() {
    let bytes = session.heldBytes
    guard bytes != notedBytes else { return }
    notedBytes = bytes
    server.noteHeld(bytes, of: session.client)
  }
}

extension ClientRecord.Push {
  /// About how much it takes.
  var byteCount: Int {
    switch self {
    case .message(let channel, let message): channel.count + message.count + 64
    case .patternMessage(let pattern, let channel, let message): pattern.count + channel.count + message.count + 64
    case .invalidate(let keys), .invalidateMessage(let keys): (keys ?? []).reduce(64) { $0 + $1.count + 32 }
    case .redirectionBroken: 64
    }
  }

  func encode(into reply: inout Reply) {
    switch self {
    case .message(let channel, let message):
      reply.push(3)
      reply.bulk("message")
      reply.bulk(channel)
      reply.bulk(message)
    case .patternMessage(let pattern, let channel, let message):
      reply.push(4)
      reply.bulk("pmessage")
      reply.bulk(pattern)
      reply.bulk(channel)
      reply.bulk(message)
    case .invalidate(let keys):
      reply.push(2)
      reply.bulk("invalidate")
      reply.keys(keys)
    case .invalidateMessage(let keys):
      reply.push(3)
      reply.bulk("message")
      reply.bulk("__redis__:invalidate")
      reply.keys(keys)
    case .redirectionBroken(let id):
      reply.push(2)
      reply.bulk("tracking-redir-broken")
      reply.integer(id)
    }
  }
}

extension Reply {
  fileprivate mutating func keys(_ keys: [[UInt8]]?) {
    guard let keys else { return nullArray() }
    array(keys.count)
    for key in keys { bulk(key) }
  }
}
