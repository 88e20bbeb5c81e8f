/// The host's own list of users, `/etc/passwd`: passwd(5).
///
/// Read as a file and not through a name service: whose memory a process trusts is the host's decision and not the
/// network's, and a static program has no name service.
package enum PasswdFile {
  /// One user of the list.
  package struct Entry {
    package let name: Substring
    package let id: UInt32
  }

  /// The file's text; nil if it cannot be read. Reads it each time: for opening and for errors, not for a hot path.
  // A megabyte holds ten thousand users; a file without end is none.
  package static var text: String? { HostFile.read("/etc/passwd", atMost: 1 << 20) }

  /// The users in the text of such a file; lines that are none are left out.
  package static func entries(in text: String) -> [Entry] {
    text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count == 7, !fields[0].isEmpty, let id = UInt32(fields[2]) else { return nil }
      return Entry(name: fields[0], id: id)
    }
  }
}
