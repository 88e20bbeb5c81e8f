/// An asynchronous barrier. What it does, its subclass says.
@usableFromInline
class BarrierWork: Work, @unchecked Sendable {
  // Sendable because `turnDeadlineInstant` belongs to the thread that has its turn, and is read between turns under the queue's
  // lock. The rest does not change.
  private final var turnDeadlineInstant: UInt64 = 0
  /// When its wait for the table ends. Nil until its turn has come first.
  final var turnDeadline: Deadline? {
    get { turnDeadlineInstant == 0 ? nil : Deadline(at: turnDeadlineInstant) }
    set { turnDeadlineInstant = newValue?.instant ?? 0 }
  }

  /// It may touch more than the table, so it must not be undone and run again: it has a barrier to itself, or is the first of its group.
  final let runsOnce: Bool

  /// What it may change.
  var reach: OwnedReach { .table }

  /// When its wait for the table ends, if its turn comes first now.
  var deadlineOfFirstTurn: Deadline { Deadline(timeoutNanoseconds) }

  // Inlined, or each class between this one and its object would count the queue once more.
  @inline(__always)
  init(_ queue: BarrierQueue, _ timeout: Duration?, waitsForReaders: Bool = false, runsOnce: Bool = false) {
    self.runsOnce = runsOnce
    super.init(.barrier, queue, timeout, isBarrierWork: true, waitsForReaders: waitsForReaders)
  }

  override final func take(turnOf queue: BarrierQueue) { queue.run(self) }

  /// Does it in an open barrier.
  func run(_ tx: inout Transaction) throws -> WorkValue? { nil }

  /// Its turn has come, and the table cannot be had. The queue has not moved on.
  /// - Returns: what came of it.
  func refuse(_ error: TableError) -> WorkResult { .failure(error) }
}
