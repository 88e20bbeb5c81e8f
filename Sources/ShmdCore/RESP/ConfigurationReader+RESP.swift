extension ConfigurationReader {
  /// Reads the key `resp`.
  mutating func readRESP(_ node: Node) {
    guard let values = values(of: node, "resp", RESPKeyword.self) else { return }
    var resp = RESPConfiguration()
    for (key, _, node) in values {
      switch key {
      case .socket: resp.socket = scalar(node, "resp: socket", Self.socketPath)
      case .mode: resp.mode = scalar(node, "resp: mode", Self.socketMode)
      case .listen: resp.listen = scalar(node, "resp: listen", Self.address)
      case .tables: resp.tables = list(node, "resp: tables") { text throws(Complaint) in text }
      case .users: resp.users = list(node, "resp: users", Accounts.user)
      }
    }
    if !values.contains(where: { $0.key == .socket || $0.key == .listen }) {
      complain(node, "resp listens nowhere; give it a 'socket', or 'listen: 127.0.0.1:6379', or both")
    }
    if resp.listen != nil, resp.users != nil {
      complain(
        node, "resp: 'users' and 'listen' exclude each other: over TCP nobody tells which user connects; remove one")
    }
    configuration.resp = resp
  }

  /// Once the tables of all files are read too.
  mutating func checkRESP(line: Int) {
    guard let resp = configuration.resp else { return }
    if resp.tables?.isEmpty ?? configuration.tables.isEmpty {
      complain(line, "resp serves no table; configure one, or remove the key 'resp'")
    }
    for name in resp.tables ?? [] where !configuration.tables.contains(where: { $0.name == name }) {
      complain(line, "resp: tables: '\(name)' is not among the configured tables; add it there, or remove it here")
    }
  }

  private mutating func list<T>(
    _ node: Node, _ key: String, _ read: (String) throws(Complaint) -> T
  ) -> [T]? {
    guard let items = node.sequence else {
      complain(node, "'\(key)' is \(node.kind), not a list; write [A, B]")
      return nil
    }
    var values: [T] = []
    for item in items {
      if let value = scalar(item, key, read) { values.append(value) }
    }
    return values
  }

  private static func socketPath(_ text: String) throws(Complaint) -> String {
    guard text.hasPrefix("/"), text.utf8.count < 108 else {
      throw Complaint("\(text.quotedExcerpt) is not a socket's path; write an absolute path of at most 107 bytes")
    }
    return text
  }

  private static func socketMode(_ text: String) throws(Complaint) -> UInt32 {
    guard (3...4).contains(text.utf8.count), let mode = UInt32(text, radix: 8), mode <= 0o777 else {
      throw Complaint("\(text.quotedExcerpt) is not a mode; write permission bits in octal, as in \"0660\"")
    }
    return mode
  }

  /// Loopback only: what comes by TCP shows no user, and is not encrypted.
  private static func address(_ text: String) throws(Complaint) -> (host: String, port: Int) {
    let parts = text.split(separator: ":").map(String.init)
    guard let last = parts.last, let port = UInt16(last), port > 0, text.hasSuffix(":\(last)") else {
      throw Complaint("\(text.quotedExcerpt) is not an address; write 127.0.0.1:PORT or [::1]:PORT")
    }
    let host = String(text.dropLast(last.utf8.count + 1))
    switch host {
    case "[::1]": return ("::1", Int(port))
    case "localhost": return ("127.0.0.1", Int(port))
    case _
    where host.hasPrefix("127.") && host.split(separator: ".").count == 4
      && host.split(separator: ".").allSatisfy({ UInt8($0) != nil }):
      return (host, Int(port))
    default:
      throw Complaint("\(host.prefix(64)) is not this host alone; write 127.0.0.1:\(port) or [::1]:\(port)")
    }
  }
}
