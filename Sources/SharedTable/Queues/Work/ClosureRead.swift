/// An asynchronous read that runs a closure.
final class ClosureRead: ReadWork, @unchecked Sendable {
  // Sendable because nothing in it changes.
  private let body: @Sendable (borrowing ReadView) throws -> WorkValue?

  init(
    _ queue: BarrierQueue, _ timeout: Duration?, _ body: @escaping @Sendable (borrowing ReadView) throws -> WorkValue?
  ) {
    self.body = body
    super.init(queue, timeout)
  }

  override func run(_ view: borrowing ReadView) throws -> WorkValue? { try body(view) }
}
