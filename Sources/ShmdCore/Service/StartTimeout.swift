import SharedMemory
import Synchronization

/// Asks the service manager for more time while the daemon starts: durable tables come back from their stores, and how long that takes
/// depends on the disk. A start in which nothing goes on asks for no more, and is ended; nor does one that is to stop.
final class StartTimeout: Sendable {
  /// Longer than from one beat to the next: a table may take a while to be made.
  private static let extensionMicroseconds = 300_000_000
  private static let pauseNanoseconds: UInt64 = 1_000_000_000

  private let notifier: Notifier
  private let lastNanoseconds = Mutex<UInt64>(0)
  private let isOver = Atomic(false)

  init(_ notifier: Notifier) { self.notifier = notifier }

  /// The start goes on. The manager never takes it for less time than the unit gives.
  func beat() {
    if isOver.load(ordering: .relaxed) { return }
    let now = HostClock.monotonicNanoseconds
    let isDue = lastNanoseconds.withLock { last in
      guard last == 0 || now >= last + Self.pauseNanoseconds else { return false }
      last = now
      return true
    }
    if isDue { notifier.send("EXTEND_TIMEOUT_USEC=\(Self.extensionMicroseconds)") }
  }

  /// The daemon is to stop: the manager's time for that is not to be made longer.
  func end() { isOver.store(true, ordering: .relaxed) }
}
