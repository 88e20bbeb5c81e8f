import SharedMemory

/// Waiting for the value of a place while another process, or another thread or task of this one, computes it.
///
/// A waiter looks after each commit, and at the latest after ``deathSlice``: a process that dies while it computes commits nothing.
extension ClaimedPlace {
  /// How late a waiter notices at most that the process which computes has died.
  private static var deathSlice: Duration { .milliseconds(100) }

  /// Blocks while another computes.
  /// - Returns: the value; nil if it has to be claimed again.
  func wait(_ other: ClaimRecord, _ deadline: Deadline) throws(TableError) -> Value? {
    if other.isOwn { throw recursive }
    while true {
      let version = table.version
      switch try look(other, timeoutNanoseconds: table.timeoutNanoseconds) {
      case .present(let value): return value
      case .gone: return nil
      case .computing: break
      }
      guard !deadline.isPast else { throw timedOut(other) }
      _ = try table.waitForCommit(after: version, timeout: min(deadline.left, Self.deathSlice))
    }
  }

  /// As ``wait(_:_:)``, for tasks: suspends.
  nonisolated(nonsending) func suspend(
    _ other: ClaimRecord, _ deadline: Deadline
  ) async throws -> Value? {
    if other.isOwn { throw recursive }
    let watch = try Watch(table)
    while true {
      try Task.checkCancellation()
      let version = table.version
      switch try await look(other) {
      case .present(let value): return value
      case .gone: return nil
      case .computing: break
      }
      guard !deadline.isPast else { throw timedOut(other) }
      try await watch.waitForCommit(
        after: version, deadline: deadline.instant(within: Self.deathSlice.clampedNanoseconds))
    }
  }
}
