import Dispatch
import SharedTable
import Synchronization

/// Waits on a thread that may be blocked, a lane's, for what a task does.
enum BlockingCall {
  /// What the task makes, for its thread and the one that waits.
  private final class Outcome<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
    let isThere = DispatchSemaphore(value: 0)
  }

  /// - Returns: what `body` returns; nil if it has not within the time: then its task is cancelled.
  static func wait<Value: Sendable>(
    atMost time: Duration, for body: @escaping @Sendable () async -> Value
  ) -> Value? {
    let outcome = Outcome<Value>()
    let task = Task {
      let value = await body()
      outcome.value.withLock { $0 = value }
      outcome.isThere.signal()
    }
    let end = DispatchTime.now() + .nanoseconds(Int(time.clampedNanoseconds))
    if outcome.isThere.wait(timeout: end) == .timedOut { task.cancel() }
    return outcome.value.withLock { $0 }
  }
}
