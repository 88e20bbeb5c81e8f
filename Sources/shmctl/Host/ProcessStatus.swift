import Glibc
import SharedMemory

/// What /proc says of another process, as far as it is shown to us.
struct ProcessStatus {
  let user: UInt32
  /// As in proc(5): R running, S sleeping, T stopped, t traced, Z zombie…
  let state: Character
  let command: String
  let parent: Int32?

  /// Nil if there is none, or it is hidden.
  init?(_ pid: Int32) {
    guard let text = HostFile.read("/proc/\(pid)/status") else { return nil }
    func value(_ name: String) -> Substring? {
      text.split(separator: "\n").first { $0.hasPrefix(name) }?.dropFirst(name.count)
    }
    guard let uids = value("Uid:\t"), let user = uids.split(separator: "\t").dropFirst().first.flatMap({ UInt32($0) }),
      let state = value("State:\t")?.first, let command = value("Name:\t")
    else { return nil }
    self.user = user
    self.state = state
    self.command = String(command)
    parent = value("PPid:\t").flatMap { Int32($0) }
  }

  /// Whether this process was started by that one, or by one that it has started.
  static func isAncestor(_ pid: Int32) -> Bool {
    var current = ProcessStatus(getpid())?.parent
    while let parent = current, parent > 0 {
      if parent == pid { return true }
      current = ProcessStatus(parent)?.parent
    }
    return false
  }

  var isStopped: Bool { state == "T" || state == "t" }
}
