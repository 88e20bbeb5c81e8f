import SharedMemory

/// When a task or a thread that waits for a value to change looks at it again, if no writer wakes it.
enum NextLook {
  /// Where no look was possible and no commit came: a barrier that runs moves the version when it ends, but
  /// one that waits for readers may give up.
  static let retryNanoseconds: UInt64 = 10_000_000

  /// A value expires by the time of day, and a task that waits for it sleeps by the monotonic clock: the time of day may be set, and it goes on while
  /// the host sleeps. So the reader looks again as often as the watching thread wakes in any case.
  /// - Parameter expiry: 0 for a value that does not expire: nothing but a writer changes that.
  static func nanoseconds(untilExpiry expiry: UInt64, now: UInt64) -> UInt64 {
    if expiry == 0 { return .max }
    return min(expiry > now ? expiry - now : 0, TableWatcher.sliceNanoseconds)
  }
}

extension Watch {
  /// Suspends until the next look may find something else: until a version above this one is committed, what was found
  /// expires, the time is over, or the task is cancelled.
  /// - Parameter version: loaded before the look.
  /// - Throws: `unlinked`.
  func waitForNews<T>(
    after version: UInt64, _ look: VersionedValue<T>?, deadline: Deadline, isolation: isolated (any Actor)?
  ) async throws(TableError) {
    let lasts = look?.lastsNanoseconds ?? NextLook.retryNanoseconds
    try await waitForCommit(after: version, deadline: deadline.instant(within: lasts), isolation: isolation)
  }
}
