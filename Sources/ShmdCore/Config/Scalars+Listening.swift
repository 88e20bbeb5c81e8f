import SharedMemory

/// Where a server listens, as a configuration says it.
extension Scalars {
  /// An absolute path, or the word ``Listening/passed``.
  static func socketPath(_ text: String) throws(Complaint) -> String {
    guard text.hasPrefix("/") && text.utf8.count <= LocalSocket.maximumPathLength || text == Listening.passed else {
      throw Complaint(
        "\(text.quotedExcerpt) is not a socket's path; write an absolute path of at most \(LocalSocket.maximumPathLength) bytes, "
          + "or systemd")
    }
    return text
  }

  static func socketMode(_ text: String) throws(Complaint) -> UInt32 {
    guard (3...4).contains(text.utf8.count), let mode = UInt32(text, radix: 8), mode <= 0o777 else {
      throw Complaint("\(text.quotedExcerpt) is not a mode; write permission bits in octal, as in \"0660\"")
    }
    return mode
  }

  /// Loopback only: what comes by TCP shows no user, and is not encrypted.
  static func loopbackAddress(_ text: String) throws(Complaint) -> Listening.Address {
    let parts = text.split(separator: ":").map(String.init)
    guard let last = parts.last, let port = UInt16(last), port > 0, text.hasSuffix(":\(last)") else {
      throw Complaint("\(text.quotedExcerpt) is not an address; write 127.0.0.1:PORT or [::1]:PORT")
    }
    let host = String(text.dropLast(last.utf8.count + 1))
    switch host {
    case "[::1]": return Listening.Address(host: "::1", port: Int(port))
    case "localhost": return Listening.Address(host: "127.0.0.1", port: Int(port))
    case _
    where host.hasPrefix("127.") && host.split(separator: ".").count == 4
      && host.split(separator: ".").allSatisfy({ UInt8($0) != nil }):
      return Listening.Address(host: host, port: Int(port))
    default:
      throw Complaint("\(host.prefix(64)) is not this host alone; write 127.0.0.1:\(port) or [::1]:\(port)")
    }
  }
}
