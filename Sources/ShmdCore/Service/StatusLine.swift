import Synchronization
import ToolSupport

/// The line that `systemctl status` shows: sent when it has become another, and with each READY.
final class StatusLine: Sendable {
  private let notifier: Notifier
  private let settings: Settings
  private let startup: Startup
  private let last = Mutex("")

  init(_ notifier: Notifier, _ settings: Settings, _ startup: Startup) {
    self.notifier = notifier
    self.settings = settings
    self.startup = startup
  }

  /// - Parameter isReady: the start, or a reload, is over: then it is sent in any case.
  func update(_ report: KeeperReport, isReady: Bool = false) {
    let parts = [settings.status(report)] + startup.unserved
    let status = "STATUS=\(parts.joined(separator: "; "))".printable
    // Sent under the lock, which costs no wait, so that what the manager has last is what is remembered.
    last.withLock { last in
      if isReady { notifier.send("READY=1", status) } else if last != status { notifier.send(status) }
      last = status
    }
  }
}
