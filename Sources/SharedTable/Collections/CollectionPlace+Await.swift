/// For writes from asynchronous code: see `Table+Await.swift`.
extension CollectionPlace {
  /// A barrier that changes this collection only, without blocking the task's thread. Tried again as ``FullRetry`` says.
  @usableFromInline
  nonisolated(nonsending) func awaitBarrier<R: Sendable>(
    _ timeout: Duration?, _ body: @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    try await table.awaitBarrier(timeout, reach: .subtree(name.prefix.array.dropLast()), body)
  }
}
