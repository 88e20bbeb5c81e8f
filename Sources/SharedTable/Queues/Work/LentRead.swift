/// An asynchronous read that runs a closure of a task which waits for it. The closure is lent as that of a ``LentBarrier`` is.
@usableFromInline
final class LentRead: ReadWork, @unchecked Sendable {
  // Sendable for the reasons of ``LentBarrier``.
  private var body: (@Sendable (borrowing ReadView) throws -> WorkValue?)?

  @usableFromInline
  init(
    _ queue: BarrierQueue, _ timeout: Duration?, _ body: @escaping @Sendable (borrowing ReadView) throws -> WorkValue?
  ) {
    self.body = body
    super.init(queue, timeout)
  }

  override func run(_ view: borrowing ReadView) throws -> WorkValue? { try body?(view) }

  /// Lets go of the closure; called by the task when the work has ended. A lane may release the work later; by then it holds no closure.
  @usableFromInline
  func giveBack() { body = nil }
}
