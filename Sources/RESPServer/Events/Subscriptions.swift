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
  /// The empty one: all keys.
  var prefixes: [[UInt8]] = []
  /// Who is told; nil: the client itself.
  var redirect: Int?

  /// Goes on to tell what was told before.
  mutating func add(_ earlier: [[UInt8]]) {
    // The one that tells most comes last: a key is told once.
    prefixes = (earlier + prefixes).filter { !$0.isEmpty } + (earlier + prefixes).filter(\.isEmpty).prefix(1)
  }

  /// The prefix for which a key is told; none overlaps another, but for the empty one.
  func prefix(of key: [UInt8]) -> [UInt8]? { prefixes.first { key.starts(with: $0) } }
}
