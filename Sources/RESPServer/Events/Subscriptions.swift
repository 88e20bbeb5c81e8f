/// What one connection listens to, in the order in which it began.
struct Subscriptions {
  var channels: [[UInt8]] = []
  var patterns: [[UInt8]] = []

  /// One client listens to no more than so many: each costs the server memory.
  static let most = 10_000

  var count: Int { channels.count + patterns.count }
}

/// `CLIENT TRACKING … BCAST`: keys whose changes a client is told.
struct Tracking: Sendable, Equatable {
  /// None: all keys.
  var prefixes: [[UInt8]] = []
  /// Who is told; nil: the client itself.
  var redirect: Int?

  func admits(_ key: [UInt8]) -> Bool { prefixes.isEmpty || prefixes.contains { key.starts(with: $0) } }
}
