/// `CLIENT TRACKING … BCAST`: keys whose changes a client is told.
struct Tracking: Sendable, Equatable {
  /// The empty one: all keys.
  var prefixes: [[UInt8]] = []
  /// The client that the server tells of changes in this one's place; nil: it tells this client.
  var redirect: Int?

  /// One client names no more than so many, of so many bytes: each is compared with each other one, and with every key that changes.
  static let mostPrefixes = 1000
  static let mostBytes = 1 << 20

  /// About how much memory the prefixes take: beside the bytes of each the array that holds them, twice.
  var heldBytes: Int { prefixes.reduce(0) { $0 + $1.count + 100 } }

  /// Goes on to tell what was told before.
  mutating func add(_ earlier: [[UInt8]]) {
    // The one that tells most comes last: a key is told once.
    prefixes = (earlier + prefixes).filter { !$0.isEmpty } + (earlier + prefixes).filter(\.isEmpty).prefix(1)
  }

  /// The prefix for which a key is told; none overlaps another, but for the empty one.
  func prefix(of key: [UInt8]) -> [UInt8]? { prefixes.first { key.starts(with: $0) } }
}
