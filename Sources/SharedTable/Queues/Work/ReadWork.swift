import TableEngine

/// An asynchronous read. What it does, its subclass says.
@usableFromInline
class ReadWork: Work, @unchecked Sendable {
  // Sendable because nothing in it changes.
  init(_ queue: BarrierQueue, _ timeout: Duration?) { super.init(.read, queue, timeout) }

  /// A read of the RCU variant waits for nothing (G5).
  override final var mayWaitForTable: Bool { unsafe queue.table.variant == .rwlock }

  /// Does it in an open section.
  func run(_ view: borrowing ReadView) throws -> WorkValue? { nil }

  override final func take(turnOf queue: BarrierQueue) {
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
    setResult(Result { try queue.table.run(section) { view in try run(view) } })
    queue.endIfForked()
    return true
  }
}
