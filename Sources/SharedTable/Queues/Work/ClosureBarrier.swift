/// An asynchronous barrier that runs a closure.
final class ClosureBarrier: BarrierWork, @unchecked Sendable {
  // Sendable because nothing in it changes.
  private let body: @Sendable (inout Transaction) throws -> WorkValue?

  init(
    _ queue: BarrierQueue, _ timeout: Duration?, waitsForReaders: Bool = false,
    _ body: @escaping @Sendable (inout Transaction) throws -> WorkValue?
  ) {
    self.body = body
    super.init(queue, timeout, waitsForReaders: waitsForReaders)
  }

  override func run(_ tx: inout Transaction) throws -> WorkValue? { try body(&tx) }
}
