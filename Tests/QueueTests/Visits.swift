import SharedTable

/// An actor over a table that counts its calls, there and in its process.
actor Visits: HostActor {
  nonisolated let hostExecutor: HostExecutor
  let count: HostState<Int>
  /// The process's own.
  var calls = 0

  init(_ table: Table, timeout: Duration? = nil) throws {
    hostExecutor = HostExecutor(in: table, timeout: timeout)
    count = try HostState("visits", in: hostExecutor, default: 0)
  }

  @discardableResult
  func visit() throws -> Int {
    calls += 1
    try count += 1
    return try count.value
  }
}
