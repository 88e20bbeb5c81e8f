import Glibc
import SharedMemory

/// Who is at the other end of a Unix socket, as the kernel wrote it down at connect(2).
struct PeerCredentials: Sendable, Equatable, CustomStringConvertible {
  let process: Int32
  let user: UInt32
  let group: UInt32
  /// That group and the supplementary ones; it alone if they were not asked for.
  let groups: [UInt32]

  /// - Returns: nil for a socket of another family.
  init?(descriptor: Int32, withGroups: Bool) {
    guard let credentials = SocketCredentials(descriptor: descriptor), credentials.process > 0 else { return nil }
    (process, user, group) = (credentials.process, credentials.user, credentials.group)
    groups = [group] + (withGroups ? Self.supplementaryGroups(descriptor) : [])
  }

  /// As id(1) writes them, so many groups at most.
  var description: String {
    let most = 64
    let shown = groups.prefix(most).map(String.init).joined(separator: ",") + (groups.count > most ? ",…" : "")
    return "uid=\(user) gid=\(group) groups=\(shown)"
  }

  /// A kernel that does not tell them (before Linux 4.13) grants nothing by them.
  private static func supplementaryGroups(_ descriptor: Int32) -> [UInt32] {
    let size = MemoryLayout<UInt32>.size
    var length = socklen_t(32 * size)
    while true {
      let room = Int(length)
      var groups = [UInt32](repeating: 0, count: room / size)
      if unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, &groups, &length) == 0 {
        return Array(groups.prefix(Int(length) / size))
      }
      // Where there are more, the kernel says how many bytes they take.
      guard errno == ERANGE, Int(length) > room else { return [] }
    }
  }
}
