extension AsyncSequence where Self: Sendable {
  /// Calls `body` after an element has come, and once for all that come while it is at work.
  func forEachMerged(_ body: () async -> Void) async throws {
    let (merged, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { continuation.finish() }
        for try await _ in self { continuation.yield() }
      }
      for await _ in merged { await body() }
      try await group.waitForAll()
    }
  }
}
