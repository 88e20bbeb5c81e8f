import SharedMemory

/// What /proc says of another process, as far as it is shown to us.
struct ProcessStatus {
  let user: UInt32
  /// As in proc(5): R running, S sleeping, T stopped, t traced, Z zombie…
  let state: Character
  let command: String

  /// Nil if there is none, or it is hidden.
  init?(_ pid: Int32, thread: Int32? = nil) {
    let path = thread.map { "/proc/\(pid)/task/\($0)/status" } ?? "/proc/\(pid)/status"
    guard let text = HostFile.read(path) else { return nil }
    func value(_ name: String) -> Substring? {
      text.split(separator: "\n").first { $0.hasPrefix(name) }?.dropFirst(name.count)
    }
    guard let uids = value("Uid:\t"), let user = uids.split(separator: "\t").dropFirst().first.flatMap({ UInt32($0) }),
      let state = value("State:\t")?.first, let command = value("Name:\t")
    else { return nil }
    self.user = user
    self.state = state
    self.command = String(command)
  }

  var isStopped: Bool { state == "T" || state == "t" }
}
