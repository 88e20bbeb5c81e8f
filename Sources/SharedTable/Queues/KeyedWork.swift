/// An asynchronous barrier of some keys. It has its turn as a read has, and does in it what it was made with.
final class KeyedWork: Work, @unchecked Sendable {
  // Sendable because nothing in it changes.
  private let body: @Sendable (BarrierQueue) throws -> WorkValue?

  init(_ queue: BarrierQueue, _ timeout: Duration?, _ body: @escaping @Sendable (BarrierQueue) throws -> WorkValue?) {
    self.body = body
    super.init(.read, queue, timeout)
  }

  override func take(turnOf queue: BarrierQueue) {
    setResult(Result { try body(queue) })
    queue.endTurn({ $0.finishRead() }) { tell() }
  }
}
