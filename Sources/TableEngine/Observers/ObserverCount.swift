import Glibc
import SharedMemory

/// How many observe a table. Observers store nothing in it, but each holds a shared lock on the data object, and the
/// kernel lists those locks.
enum ObserverCount {
  /// Nil where the list cannot be read. Those of PID namespaces that are not below ours are not in it.
  static func now(of data: SharedObject) -> Int? {
    guard let status = try? data.status(), let list = HostFile.read("/proc/locks", atMost: 1 << 22) else { return nil }
    return count(inode: status.inode, device: status.device, in: list)
  }

  /// In the text of /proc/locks: `1: OFDLCK ADVISORY  READ -1 00:18:3 0 EOF`, with major:minor in hexadecimal.
  static func count(inode: UInt64, device: UInt64, in list: String) -> Int {
    let major = (device >> 8) & 0xfff | (device >> 32) & ~0xfff
    let minor = device & 0xff | (device >> 12) & ~0xff
    return list.split(separator: "\n").count { line in
      let fields = line.split(separator: " ")
      // A line of one who waits has an arrow behind its number, and so other fields.
      guard fields.count >= 6, fields[1] == "OFDLCK", fields[3] == "READ" else { return false }
      let place = fields[5].split(separator: ":")
      return place.count == 3 && UInt64(place[0], radix: 16) == major && UInt64(place[1], radix: 16) == minor
        && UInt64(place[2]) == inode
    }
  }
}
