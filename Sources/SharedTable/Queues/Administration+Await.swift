extension Table.Administration {
  /// What the form that blocks does, for asynchronous code: suspends, and one of the library's threads does it. The timeout counts from the call:
  /// where closures of queues keep all of these threads at work until it is over, the sweep throws `timedOut`, and is not done later.
  /// - Returns: how many were removed.
  /// - Throws: what the form that blocks throws; `CancellationError` if the task was cancelled before the sweep began. Nothing was removed then.
  @discardableResult
  nonisolated(nonsending) public func sweepExpired(limit: Int = 1000, timeout: Duration? = nil) async throws -> Int {
    let deadline = Deadline(table.nanoseconds(timeout))
    return try await BarrierQueue(forOneCallOn: table).runJobUnlessCancelled(beginningBy: deadline) {
      try sweepExpired(limit: limit, timeout: deadline.left)
    }
  }
}
