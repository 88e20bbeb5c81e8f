import Synchronization

/// Opens once, and lets through the one task that waits for it, however late it comes.
final class Latch: Sendable {
  private let opened = Mutex(false)
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  var isOpen: Bool { opened.withLock { $0 } }

  func open() {
    opened.withLock { $0 = true }
    continuation.finish()
  }

  /// Returns early if the task is cancelled. For one task alone: a stream hands each element, and so its end, to one.
  func wait() async { for await _ in stream {} }
}
