import Dispatch
import Synchronization

/// Writes of callers that must not wait: one after another, in the order submitted, on a thread of GCD's.
///
/// The one door through which this part writes asynchronously. Barriers exclude each other anyway, so one thread a cache
/// loses nothing, and a burst of callers costs no burst of threads.
final class Drainer: Sendable {
  private let queue: DispatchQueue
  private let waiting = Atomic(0)

  /// What may wait here before a caller does.
  static let capacity = 1024

  init(label: String) { queue = DispatchQueue(label: label) }

  /// Nothing submitted is left to do.
  var isIdle: Bool { waiting.load(ordering: .acquiring) == 0 }

  /// Blocks while ``capacity`` others are waiting.
  func submit(_ body: @escaping @Sendable () -> Void) {
    if waiting.add(1, ordering: .acquiringAndReleasing).newValue > Self.capacity { waitUntilIdle() }
    queue.async { @Sendable in
      body()
      self.waiting.subtract(1, ordering: .acquiringAndReleasing)
    }
  }

  /// Blocks until everything that was submitted before is done.
  func waitUntilIdle() { queue.sync {} }

  /// Runs `body` here and suspends the caller meanwhile, who keeps no thread waiting.
  func run<R: Sendable>(_ body: @escaping @Sendable () throws(TableError) -> R) async throws(TableError) -> R {
    let result: Result<R, TableError> = await withCheckedContinuation { continuation in
      queue.async { @Sendable in
        do throws(TableError) {
          continuation.resume(returning: .success(try body()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }
}
