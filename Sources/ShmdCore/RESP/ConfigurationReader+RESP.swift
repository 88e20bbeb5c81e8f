extension ConfigurationReader {
  /// Reads the key `resp`.
  mutating func readRESP(_ node: Node) {
    guard let values = values(of: node, "resp", RESPKeyword.self) else { return }
    var resp = RESPConfiguration()
    for (key, _, node) in values {
      switch key {
      case .socket, .mode, .listen: break
      case .tables: resp.tables = list(node, "resp: tables") { text throws(Complaint) in text }
      case .users: resp.users = list(node, "resp: users", Accounts.user)
      case .access: resp.access = readAccess(node)
      }
    }
    resp.listening = readListening(node, "resp", values.map { ($0.key.rawValue, $0.value) }, port: 6379)
    if resp.listening.listen != nil, resp.users != nil {
      complain(
        node, "resp: 'users' and 'listen' exclude each other: over TCP nobody tells which user connects; remove one")
    }
    if resp.listening.listen != nil, let rules = resp.access, !rules.contains(where: \.rule.isForAnyone) {
      complain(
        node,
        "resp: nobody who comes by 'listen' could do anything: over TCP nobody tells a user, and no rule of 'access' is "
          + "for anyone; write one with 'anyone: true', or remove 'listen'")
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
    checkAccess(resp)
  }

  /// A list of scalars; nil after a complaint.
  mutating func list<T>(
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
}
