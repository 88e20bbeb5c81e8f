/// An asynchronous barrier that runs a closure without a result: as most do. It takes the caller's closure as it is; one that makes a
/// ``WorkValue`` of a result is another object in memory.
final class VoidBarrier: BarrierWork, @unchecked Sendable {
  // Sendable because nothing in it changes.
  private let body: @Sendable (inout Transaction) throws -> Void

  init(
    _ queue: BarrierQueue, _ timeout: Duration?, waitsForReaders: Bool = false,
    _ body: consuming @escaping @Sendable (inout Transaction) throws -> Void
  ) {
    self.body = body
    super.init(queue, timeout, waitsForReaders: waitsForReaders)
  }

  override func run(_ tx: inout Transaction) throws -> WorkValue? {
    try body(&tx)
    return nil
  }
}
