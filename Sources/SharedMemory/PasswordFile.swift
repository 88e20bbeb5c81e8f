import Glibc

/// The host's own list of users, `/etc/passwd`.
///
/// Read as a file and not through a name service: whose memory a process trusts is the host's decision and not the
/// network's, and a static program has no name service.
enum PasswordFile {
  /// One user of the list.
  struct Entry {
    let name: Substring
    let id: UInt32
  }

  /// The file's text; nil if it cannot be read. Reads it each time: for opening and for errors, not for a hot path.
  static var text: String? {
    let descriptor = unsafe open("/etc/passwd", O_RDONLY | O_CLOEXEC)
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

  /// The users in the text of such a file; lines that are none are left out.
  static func entries(in text: String) -> [Entry] {
    text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count == 7, !fields[0].isEmpty, let id = UInt32(fields[2]) else { return nil }
      return Entry(name: fields[0], id: id)
    }
  }
}
