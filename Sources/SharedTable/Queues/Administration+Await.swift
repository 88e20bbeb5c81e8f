extension Table.Administration {
  /// What the form that blocks does, for asynchronous code: suspends, and one of the library's threads does it. Cancelling the task
  /// does not end it.
  /// - Returns: how many were removed.
  /// - Throws: what the form that blocks throws.
  @discardableResult
  nonisolated(nonsending) public func sweepExpired(limit: Int = 1000, timeout: Duration? = nil) async throws -> Int {
    try await BarrierQueue(forOneCallOn: table).runJob { @Sendable [self] () throws(TableError) in
      try sweepExpired(limit: limit, timeout: timeout)
    }
  }
}
