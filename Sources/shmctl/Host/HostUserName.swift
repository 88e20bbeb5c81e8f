import Glibc
import SharedMemory

/// This process's number, and users' names for listings: from /etc/passwd, which is read once.
enum HostUserName {
  private static let names: [UInt32: String] = {
    var names: [UInt32: String] = [:]
    for line in (HostFile.read("/etc/passwd") ?? "").split(separator: "\n") {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      if fields.count == 7, let id = UInt32(fields[2]), names[id] == nil { names[id] = String(fields[0]) }
    }
    return names
  }()

  /// The number itself for a user of a network's directory.
  static func of(_ id: UInt32) -> String { names[id] ?? "\(id)" }
}

var ownPid: Int32 { getpid() }
