/// Asynchronous work: a submission with a closure, run by a worker thread.
class Work: Submission, @unchecked Sendable {
  // Sendable because what a subclass adds never changes.
  let timeout: Duration?

  init(_ kind: Kind, _ timeout: Duration?) {
    self.timeout = timeout
    super.init(kind)
  }

  /// On a worker thread, when its turn has come.
  func take(turnOf queue: BarrierQueue) {}

  /// Tells whoever waits that it will not run, or that its changes could not be committed.
  func fail(_ error: any Error) {}
}

/// Tells of an outcome. Not called before the queue has moved on: whoever is told may use it.
typealias Announcement = @Sendable () -> Void

/// An asynchronous barrier that gives nobody its type.
class BarrierWork: Work, @unchecked Sendable {
  // Sendable because nothing in it changes.
  let waitsForReaders: Bool

  init(_ timeout: Duration?, waitsForReaders: Bool) {
    self.waitsForReaders = waitsForReaders
    super.init(.barrier, timeout)
  }

  override final func take(turnOf queue: BarrierQueue) { queue.run(self) }

  /// Runs the closure in an open barrier.
  /// - Returns: what tells of the outcome, once the barrier is committed.
  func run(_ tx: inout Transaction) throws -> Announcement { {} }
}

final class TypedRead<R: Sendable>: Work, @unchecked Sendable {
  // Sendable because nothing in it changes.
  let outcome: Outcome<R>
  private let body: @Sendable (borrowing ReadView) throws -> R

  init(
    _ timeout: Duration?, _ outcome: Outcome<R>, _ body: @escaping @Sendable (borrowing ReadView) throws -> R
  ) {
    self.outcome = outcome
    self.body = body
    super.init(.read, timeout)
  }

  override func take(turnOf queue: BarrierQueue) {
    let result = Result { try queue.table.run(try queue.beginRead(timeout), body) }
    queue.endRead { [outcome] in outcome.finish(result) }
  }

  override func fail(_ error: any Error) { outcome.finish(.failure(error)) }
}

final class TypedBarrier<R: Sendable>: BarrierWork, @unchecked Sendable {
  // Sendable because nothing in it changes.
  let outcome: Outcome<R>
  private let body: @Sendable (inout Transaction) throws -> R

  init(
    _ timeout: Duration?, waitsForReaders: Bool, _ outcome: Outcome<R>,
    _ body: @escaping @Sendable (inout Transaction) throws -> R
  ) {
    self.outcome = outcome
    self.body = body
    super.init(timeout, waitsForReaders: waitsForReaders)
  }

  override func run(_ tx: inout Transaction) throws -> Announcement {
    let result = try body(&tx)
    return { [outcome] in outcome.finish(.success(result)) }
  }

  override func fail(_ error: any Error) { outcome.finish(.failure(error)) }
}
