import SharedMemory
import Synchronization
import ToolSupport

/// The line that `systemctl status` shows: sent when it has become another, and with each READY. What the manager had no room for is sent
/// again with the next one: without READY it would end a healthy daemon after the unit's TimeoutStartSec.
final class StatusLine: Sendable {
  /// systemd ignores a notification of more than 4,096 bytes, READY included.
  private static let mostBytes = 2048

  private let notifier: Notifier
  private let settings: Settings
  private let startup: Startup
  private let state = Mutex(State())

  private struct State {
    var last = ""
    var isReadyUntold = false
    var isStopping = false
  }

  init(_ notifier: Notifier, _ settings: Settings, _ startup: Startup) {
    self.notifier = notifier
    self.settings = settings
    self.startup = startup
  }

  /// A reload begins: the manager waits for the next READY.
  func beginReload() {
    state.withLock { state in
      if !state.isStopping {
        notifier.send("RELOADING=1", "MONOTONIC_USEC=\(HostClock.monotonicNanoseconds / 1000)")
      }
    }
  }

  /// The daemon stops. From here on nothing else is sent: the READY of a reload that was under way would tell the manager that the daemon
  /// goes on.
  func stop() {
    state.withLock { state in
      state.isStopping = true
      notifier.send("STOPPING=1", "STATUS=stopping, the tables stay in place")
    }
  }

  /// - Parameter isReady: the start, or a reload, is over: then it is sent in any case.
  func update(_ report: KeeperReport, isReady: Bool = false) {
    let parts = [settings.status(report)] + startup.unserved
    let status = "STATUS=\(parts.joined(separator: "; "))".printable.cut(toBytes: Self.mostBytes)
    // Sent under the lock, which costs no wait, so that what the manager has last is what is remembered.
    state.withLock { state in
      if state.isStopping { return }
      let tellsReady = isReady || state.isReadyUntold
      guard tellsReady || state.last != status else { return }
      let isSent = tellsReady ? notifier.send("READY=1", status) : notifier.send(status)
      state.isReadyUntold = tellsReady && !isSent
      state.last = isSent ? status : ""
    }
  }
}

extension String {
  /// The beginning, and "…" where something is left out: so many bytes at most.
  fileprivate func cut(toBytes count: Int) -> String {
    if utf8.count <= count { return self }
    var end = utf8.index(startIndex, offsetBy: count - "…".utf8.count)
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return self[..<end] + "…"
  }
}
