/// Calls who wants to know of something. Not before the queue has moved on: whoever is told may use it.
typealias Announcement = @Sendable () -> Void

/// Asynchronous work that opens its own sections of the table, or none: what the library does for itself.
///
/// It has a barrier's place in the order, and so is alone in its queue, or a read's. It shares no section of the table with others:
/// it may need several of them, one after the other.
final class Job: Work, @unchecked Sendable {
  // Sendable because nothing in it changes.
  private let body: @Sendable (Job) -> Announcement

  /// - Parameter body: does the work, and gives what tells of its end.
  init(_ queue: BarrierQueue, _ kind: Kind = .barrier, _ body: @escaping @Sendable (Job) -> Announcement) {
    self.body = body
    super.init(kind, queue, nil)
  }

  /// A job whose result somebody waits for.
  convenience init(
    _ queue: BarrierQueue, _ kind: Kind = .barrier, resultOf body: @escaping @Sendable () throws -> WorkValue?
  ) {
    self.init(queue, kind) { job in
      guard job.claim() else { return {} }
      job.setResult(Result { try body() })
      return { job.tell() }
    }
  }

  override func take(turnOf queue: BarrierQueue) {
    // It may wait for the table at any moment.
    let isBarrier = kind == .barrier
    if isBarrier { queue.noteJobThread() }
    let announce = queue.whileWaiting {
      defer { queue.endIfForked() }
      return body(self)
    }
    if isBarrier { queue.forgetJobThread() }
    queue.endTurn({ isBarrier ? $0.finishBarrier() : $0.finishRead() }, telling: announce)
  }
}
