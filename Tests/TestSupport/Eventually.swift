import Glibc

/// Waits on this thread until `condition` holds, ten minutes at most or as long as `patience` says: for what only time brings.
/// - Returns: whether it holds.
public func eventually(within patience: Duration = .seconds(600), _ condition: () throws -> Bool) rethrows -> Bool {
  let end = ContinuousClock.now + patience
  while try !condition() {
    if ContinuousClock.now >= end { return false }
    usleep(1000)
  }
  return true
}

/// ``eventually(within:_:)`` for a task, which leaves its thread to others meanwhile.
public func comesTrue(
  within patience: Duration = .seconds(600), _ condition: () async throws -> Bool
) async rethrows -> Bool {
  let end = ContinuousClock.now + patience
  while try await !condition() {
    if ContinuousClock.now >= end { return false }
    try? await Task.sleep(for: .milliseconds(1))
  }
  return true
}

/// Repeats `step` until `condition` holds, a minute at most or as long as `patience` says: for work that goes on until others have
/// seen enough of it.
/// - Returns: whether it holds.
@discardableResult
public func goOn(
  within patience: Duration = .seconds(60), until condition: () -> Bool, _ step: () throws -> Void
) rethrows -> Bool {
  let end = ContinuousClock.now + patience
  while !condition() {
    if ContinuousClock.now >= end { return false }
    try step()
  }
  return true
}

/// Whether `condition` stays false for a while: for what must not happen. Waits on this thread.
///
/// On a slow machine what must not happen may come only after that while. So a slow machine makes the test weaker, never red.
public func staysFalse(for time: Duration = .milliseconds(200), _ condition: () throws -> Bool) rethrows -> Bool {
  try !eventually(within: time, condition)
}

/// ``staysFalse(for:_:)`` for a task, which leaves its thread to others meanwhile.
@discardableResult
public func doesNotComeTrue(
  for time: Duration = .milliseconds(200), _ condition: () async throws -> Bool
) async rethrows -> Bool {
  try await !comesTrue(within: time, condition)
}
