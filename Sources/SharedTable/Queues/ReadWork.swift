import TableEngine

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
    let isClaimed = run(in: queue)
    queue.endTurn({ $0.finishRead() }) { if isClaimed { tell() } }
  }

  /// - Returns: false if it was cancelled while it waited for the table.
  private func run(in queue: BarrierQueue) -> Bool {
    let section: ReadSection
    do throws(TableError) {
      section = try queue.beginReadInTurn(timeout)
    } catch {
      guard claim() else { return false }
      setResult(.failure(error))
      return true
    }
    guard claim() else {
      queue.table.segment.endRead(section)
      return false
    }
    setResult(Result { try queue.table.run(section, body) })
    queue.endIfForked()
    return true
  }
}
