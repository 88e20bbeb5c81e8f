import Glibc

/// What /proc says of another process, as far as it is shown to us.
struct ProcessLook {
  let user: UInt32
  /// As in proc(5): R running, S sleeping, T stopped, t traced, Z zombie…
  let state: Character
  let command: String

  /// Nil if there is none, or it is hidden.
  init?(_ pid: Int32, thread: Int32? = nil) {
    let path = thread.map { "/proc/\(pid)/task/\($0)/status" } ?? "/proc/\(pid)/status"
    guard let text = SystemFile.read(path) else { return nil }
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

/// Files of the system that are small text.
enum SystemFile {
  /// Nil if it cannot be read.
  static func read(_ path: String, atMost limit: Int = 1 << 20) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let bytes = try? Descriptor.readAll(descriptor, limit: limit) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The names in a directory, sorted; empty if it cannot be read.
  static func names(in directory: String) -> [String] {
    guard let stream = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}
