/// An asynchronous barrier.
@usableFromInline
class BarrierWork: Work, @unchecked Sendable {
  // Sendable because `turnDeadline` belongs to the thread that has its turn, and the rest does not change.
  final let waitsForReaders: Bool
  final let reach: OwnedReach
  private final let body: @Sendable (inout Transaction) throws -> WorkValue?
  /// When its wait for the table ends. Nil until its turn has come first.
  final var turnDeadline: Deadline?

  init(
    _ queue: BarrierQueue, _ timeout: Duration?, _ reach: OwnedReach = .table, waitsForReaders: Bool = false,
    _ body: @escaping @Sendable (inout Transaction) throws -> WorkValue?
  ) {
    self.reach = reach
    self.waitsForReaders = waitsForReaders
    self.body = body
    super.init(.barrier, queue, timeout, isBarrierWork: true)
  }

  override final func take(turnOf queue: BarrierQueue) { queue.run(self) }

  /// Runs the closure in an open barrier.
  final func run(_ tx: inout Transaction) throws -> WorkValue? { try body(&tx) }

  /// Its turn has come, and the table cannot be had. The queue has not moved on.
  /// - Returns: what came of it.
  func refuse(_ error: TableError) -> WorkResult { .failure(error) }
}
