import Glibc

/// Waits on this thread until `condition` holds, a minute at most: for what only time brings.
/// - Returns: whether it holds.
public func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  let end = ContinuousClock.now + .seconds(60)
  while try !condition() {
    if ContinuousClock.now >= end { return false }
    usleep(1000)
  }
  return true
}

/// ``eventually(_:)`` for a task, which leaves its thread to others meanwhile.
public func comesTrue(_ condition: () async throws -> Bool) async rethrows -> Bool {
  let end = ContinuousClock.now + .seconds(60)
  while try await !condition() {
    if ContinuousClock.now >= end { return false }
    try? await Task.sleep(for: .milliseconds(1))
  }
  return true
}
