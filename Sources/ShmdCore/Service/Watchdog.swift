import Glibc
import SharedMemory
import Synchronization

/// The service manager's watchdog: a ping at half its time, sent by the table loop itself and by nobody else, so that
/// a loop that hangs is a daemon that is started anew.
final class Watchdog: Sendable {
  private let notifier: Notifier
  /// Nil without a watchdog.
  private let periodNanoseconds: UInt64?
  private let lastNanoseconds = Mutex<UInt64>(0)

  /// - Parameter microseconds: `WATCHDOG_USEC`, if it is meant for this process.
  init(_ notifier: Notifier, microseconds: UInt64?) {
    self.notifier = notifier
    periodNanoseconds = microseconds.flatMap { $0 > 0 ? $0 &* 1000 : nil }
  }

  /// What the environment says. `WATCHDOG_PID` names another process if the variables were inherited.
  static func microseconds(of environment: (String) -> String?) -> UInt64? {
    if let pid = environment("WATCHDOG_PID"), Int32(pid) != getpid() { return nil }
    return environment("WATCHDOG_USEC").flatMap { UInt64($0) }
  }

  /// The longest pause between two beats that keeps the pings at half the time.
  var longestPause: Duration? { periodNanoseconds.map { .nanoseconds(Int64(clamping: $0 / 4)) } }

  /// A sign of life of the loop. Sends a ping if a quarter of the time has gone by since the last.
  func beat() {
    guard let periodNanoseconds else { return }
    let now = HostClock.monotonicNanoseconds
    let isDue = lastNanoseconds.withLock { last in
      guard now >= last + periodNanoseconds / 4 else { return false }
      last = now
      return true
    }
    if isDue { notifier.send("WATCHDOG=1") }
  }
}
