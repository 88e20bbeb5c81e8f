import Dispatch

/// What came of a piece of asynchronous work, and who wants to know.
final class Outcome<R: Sendable>: Sendable {
  private struct State: Sendable {
    var result: Result<R, any Error>?
    /// Called once with the result, in the order they came.
    var observers: [@Sendable (Result<R, any Error>) -> Void] = []
    /// Somebody looked at the result, or will.
    var isLookedAt = false
    /// Nobody has a handle any more, so nobody new will look.
    var isHandleGone = false
  }

  private let state = Locked(State())
  private let errorHandler: @Sendable (any Error) -> Void

  init(errorHandler: @escaping @Sendable (any Error) -> Void) { self.errorHandler = errorHandler }

  var isFinished: Bool { state.withLock { $0.result != nil } }

  /// Once.
  func finish(_ result: Result<R, any Error>) {
    let (observers, isOrphan) = state.withLock { state in
      state.result = result
      defer { state.observers = [] }
      return (state.observers, state.isHandleGone && !state.isLookedAt)
    }
    for observer in observers { observer(result) }
    if isOrphan { report(result) }
  }

  /// Calls `observer` with the result: at once if there is one, else on the thread that brings it.
  func observe(_ observer: @escaping @Sendable (Result<R, any Error>) -> Void) {
    let result = state.withLock { state in
      state.isLookedAt = true
      if state.result == nil { state.observers.append(observer) }
      return state.result
    }
    if let result { observer(result) }
  }

  func handleIsGone() {
    let unseen = state.withLock { state in
      state.isHandleGone = true
      return state.isLookedAt ? nil : state.result
    }
    if let unseen { report(unseen) }
  }

  /// A cancelled item is no error: somebody wanted it so.
  private func report(_ result: Result<R, any Error>) {
    if case .failure(let error) = result, !(error is CancellationError) { errorHandler(error) }
  }

  /// Sleeps until there is a result.
  /// - Returns: nil when the time is over.
  func wait(_ deadline: Deadline) -> Result<R, any Error>? {
    let done = DispatchSemaphore(value: 0)
    observe { _ in done.signal() }
    _ = done.wait(timeout: deadline.dispatchTime)
    return state.withLock { $0.result }
  }

  var value: R {
    get async throws {
      try await withCheckedThrowingContinuation { continuation in observe { continuation.resume(with: $0) } }
    }
  }
}
