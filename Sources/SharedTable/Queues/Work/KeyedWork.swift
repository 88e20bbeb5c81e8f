/// An asynchronous barrier of some keys. It has its turn as a read has.
final class KeyedWork: Work, @unchecked Sendable {
  // Sendable because nothing in it changes.
  private let begin: @Sendable (BarrierQueue) throws(TableError) -> Void
  private let body: @Sendable (BarrierQueue) throws -> WorkValue?

  /// - Parameters:
  ///   - begin: waits for the keys.
  ///   - body: runs with them and closes the barrier.
  init(
    _ queue: BarrierQueue, _ timeout: Duration?,
    begin: @escaping @Sendable (BarrierQueue) throws(TableError) -> Void,
    _ body: @escaping @Sendable (BarrierQueue) throws -> WorkValue?
  ) {
    self.begin = begin
    self.body = body
    super.init(.read, queue, timeout)
  }

  override func take(turnOf queue: BarrierQueue) {
    let isClaimed = run(in: queue)
    queue.endTurn({ $0.finishRead() }) { if isClaimed { tell() } }
  }

  /// - Returns: false if it was cancelled while it waited for its keys.
  private func run(in queue: BarrierQueue) -> Bool {
    do throws(TableError) {
      try begin(queue)
    } catch {
      guard claim() else { return false }
      setResult(.failure(error))
      return true
    }
    guard claim() else {
      queue.table.segment.abortKeyedBarrier()
      return false
    }
    setResult(Result { try body(queue) })
    return true
  }
}
