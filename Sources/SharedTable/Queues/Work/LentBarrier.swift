/// An asynchronous barrier that runs a closure of a task which waits for it: the closure may lie in the task's own memory, and is not
/// there any more once the task goes on.
@usableFromInline
final class LentBarrier: BarrierWork, @unchecked Sendable {
  // Sendable because `body` is called by the thread that has claimed the work, and given up by the task that it was submitted for, once
  // the work has ended: nobody claims it then. A thread that unclaims it has let go of the closure before: ``Work/unclaim()``.
  private var body: (@Sendable (inout Transaction) throws -> WorkValue?)?
  private let ownReach: OwnedReach
  /// When its wait for the table ends, if that counts from the call. Nil: it counts from its turn.
  private let deadline: Deadline?

  @usableFromInline
  init(
    _ queue: BarrierQueue, _ timeout: Duration?, waitsForReaders: Bool, runsOnce: Bool,
    _ body: @escaping @Sendable (inout Transaction) throws -> WorkValue?
  ) {
    self.body = body
    (ownReach, deadline) = (.table, nil)
    super.init(queue, timeout, waitsForReaders: waitsForReaders, runsOnce: runsOnce)
  }

  /// For work whose wait counts from the call.
  init(
    _ queue: BarrierQueue, until deadline: Deadline, _ reach: OwnedReach,
    _ body: @escaping @Sendable (inout Transaction) throws -> WorkValue?
  ) {
    self.body = body
    (ownReach, self.deadline) = (reach, deadline)
    super.init(queue, deadline.left)
  }

  override var reach: OwnedReach { ownReach }

  override var deadlineOfFirstTurn: Deadline { deadline ?? super.deadlineOfFirstTurn }

  override func run(_ tx: inout Transaction) throws -> WorkValue? { try body?(&tx) }

  /// Lets go of the closure; called by the task when the work has ended. A lane may release the work later; by then it holds no closure.
  @usableFromInline
  func giveBack() { body = nil }
}
