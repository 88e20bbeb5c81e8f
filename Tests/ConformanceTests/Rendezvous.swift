import Dispatch
import Glibc
import SharedTable
import Synchronization
import Testing

/// Threads that wait for each other at the first thing that each of them does.
final class Rendezvous: Sendable {
  private let expected: Int
  private let arrived = Locked<Set<pthread_t>>([])
  private let isComplete = DispatchSemaphore(value: 0)
  private let departed = Locked(0)
  private let allLeave = DispatchSemaphore(value: 0)

  init(_ expected: Int) { self.expected = expected }

  /// - Returns: whether this is the first time that the calling thread is here.
  @discardableResult
  func arrive() -> Bool {
    let (isNew, count) = arrived.withLock { threads in (threads.insert(pthread_self()).inserted, threads.count) }
    guard isNew else { return false }
    if count == expected {
      for _ in 1..<expected { isComplete.signal() }
    } else if count < expected {
      #expect(isComplete.wait(timeout: .now() + 30) == .success, "only \(count) threads came")
    }
    return true
  }

  /// Waits until all that met are here.
  func depart() {
    let count = departed.withLock { count in
      count += 1
      return count
    }
    if count == expected {
      for _ in 1..<expected { allLeave.signal() }
    } else {
      #expect(allLeave.wait(timeout: .now() + 30) == .success, "only \(count) threads left")
    }
  }

  var count: Int { arrived.withLock { $0.count } }
}
