import Glibc

/// The system user that the host's table daemon runs as.
///
/// Its tables are everyone's to take part in: whoever owns a table can misdirect its participants, and the daemon is
/// trusted as root is. Read from `/etc/passwd` itself and from no name service: whose memory a process trusts is the
/// host's decision and not the network's, and a static program has no name service.
public enum DaemonUser {
  public static let name = "shmd"

  /// Its number; nil if there is no such system user. Reads a file each time: for opening, not for a hot path.
  public static var id: UInt32? { lines(of: "/etc/passwd").flatMap(id(in:)) }

  /// The number in the text of a passwd file. Login users, 1000 and up, do not count: a person may be called anything.
  static func id(in passwd: String) -> UInt32? {
    for line in passwd.split(separator: "\n") {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count == 7, fields[0] == name, let id = UInt32(fields[2]), (1..<1000).contains(id) else { continue }
      return id
    }
    return nil
  }

  private static func lines(of path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    // A megabyte holds ten thousand users; a file without end is none.
    while bytes.count < 1 << 20 {
      let count = unsafe read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
