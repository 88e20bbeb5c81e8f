import SharedTable

/// Sessions of a web service, shared by all its worker processes.
struct SessionCache: Sendable {
  private let cache: SharedCache<String, String>

  /// - Parameter limit: how many sessions it keeps; those not used for longest go first.
  init(_ table: Table, limit: Int) throws {
    cache = try SharedCache("sessions", in: table, limit: .entries(limit), timeToLive: .seconds(3600))
  }

  /// A user signs in: the session is there for every worker when this returns.
  func begin(_ id: String, user: String) throws { try cache.set(id, Self.contents(id, user)) }

  /// The user of a session, or nil if there is none: it ended, expired, or made room for others.
  func user(of id: String) throws -> String? {
    guard let contents = try cache[id] else { return nil }
    // Of the two parts only the first, the user's name, has no space for sure.
    let parts = contents.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    // No write is ever seen in parts: what is here fits together.
    precondition(parts.count == 2 && Self.contents(id, String(parts[0])) == contents, "torn session \(id): \(contents)")
    return String(parts[0])
  }

  /// The user of a session, from wherever users come from if no worker knows it: asked once on the host.
  func user(of id: String, orSignIn load: () throws -> String) throws -> String {
    if let user = try user(of: id) { return user }
    let contents = try cache.value(forKey: id) { Self.contents(id, try load()) }
    return contents.split(separator: " ").first.map(String.init) ?? ""
  }

  func end(_ id: String) throws { try cache.remove(id) }

  var count: Int { get throws { try cache.count } }

  private static func contents(_ id: String, _ user: String) -> String { "\(user) \(id):\(user)" }
}
