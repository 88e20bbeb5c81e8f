/// An asynchronous read.
final class ReadWork: Work, @unchecked Sendable {
  // Sendable because nothing in it changes.
  private let body: @Sendable (borrowing ReadView) throws -> WorkValue?

  init(
    _ queue: BarrierQueue, _ timeout: Duration?, _ body: @escaping @Sendable (borrowing ReadView) throws -> WorkValue?
  ) {
    self.body = body
    super.init(.read, queue, timeout)
  }

  override func take(turnOf queue: BarrierQueue) {
    setResult(Result { try queue.table.run(try queue.beginReadInTurn(timeout), body) })
    queue.endTurn({ $0.finishRead() }) { tell() }
  }
}
