import RESPServer

/// Reads `resp: access`.
extension ConfigurationReader {
  /// - Returns: nil after a complaint about the whole.
  mutating func readAccess(_ node: Node) -> [ConfiguredRule]? {
    guard let items = node.sequence else {
      complain(node, "'resp: access' is \(node.kind), not a list; begin each rule with '- users: […]'")
      return nil
    }
    if items.isEmpty {
      complain(node, "resp: 'access' has no rule, so nobody could do anything; write a rule, or remove the key")
    }
    var rules: [ConfiguredRule] = []
    for item in items {
      if let rule = readRule(item) { rules.append(ConfiguredRule(rule: rule, line: item.line)) }
    }
    return rules
  }

  private mutating func readRule(_ node: Node) -> AccessRule? {
    guard let values = values(of: node, "a rule of 'resp: access'", AccessKeyword.self) else { return nil }
    var rule = AccessRule(rights: [])
    for (key, _, node) in values {
      switch key {
      case .users: rule.users = filledList(node, key, Accounts.user) ?? []
      case .groups: rule.groups = filledList(node, key, Accounts.group) ?? []
      case .anyone: rule.isForAnyone = scalar(node, "resp: access: anyone", Scalars.truth) ?? true
      case .tables: rule.tables = filledList(node, key) { text throws(Complaint) in text }
      case .keys: rule.keys = filledList(node, key, Self.keyPattern)
      case .rights:
        let rights = filledList(node, key) { text throws(Complaint) in
          try Scalars.word(text, AccessRights.words, "a right")
        }
        rule.rights = AccessRights(rights ?? [])
      }
    }
    check(rule, given: values.map(\.key), node)
    return rule
  }

  /// Keys that need each other.
  private mutating func check(_ rule: AccessRule, given: [AccessKeyword], _ node: Node) {
    if !given.contains(.users), !given.contains(.groups), !rule.isForAnyone {
      complain(node, "a rule of 'resp: access' names nobody; give it 'users', 'groups' or 'anyone: true'")
    }
    if !given.contains(.rights) {
      complain(node, "a rule of 'resp: access' grants nothing; give it 'rights', as in 'rights: [read]'")
    }
    if rule.keys != nil, rule.rights.contains(.admin) {
      complain(node, "resp: access: 'admin' is of whole tables; give it in a rule without 'keys'")
    }
  }

  /// A list, left out by whoever means nothing: an empty one looks as if it restricted, or named, somebody.
  private mutating func filledList<T>(
    _ node: Node, _ key: AccessKeyword, _ read: (String) throws(Complaint) -> T
  ) -> [T]? {
    let name = "resp: access: \(key.rawValue)"
    let values = list(node, name, read)
    if node.sequence?.isEmpty == true { complain(node, "'\(name)' is empty; name some, or remove the key") }
    return values
  }

  private static func keyPattern(_ text: String) throws(Complaint) -> KeyPattern {
    guard let pattern = KeyPattern(text) else {
      throw Complaint(
        text.isEmpty
          ? "a key has at least one byte; write a key, or the beginning of keys and a '*'"
          : "\(text.quotedExcerpt) has a '*' before its end; write a key, or the beginning of keys and a '*'")
    }
    return pattern
  }

  /// Once it is known which tables are served.
  mutating func checkAccess(_ resp: RESPConfiguration) {
    let served = resp.tables ?? configuration.tables.map(\.name)
    for entry in resp.access ?? [] {
      for name in entry.rule.tables ?? [] where !served.contains(name) {
        complain(
          entry.line,
          "resp: access: tables: \(name.quotedExcerpt) is not among the served tables; correct the name, or remove it")
      }
    }
  }
}
