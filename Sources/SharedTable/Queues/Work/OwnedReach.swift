import TableEngine

/// A ``BarrierReach`` for work that runs later: it keeps the key.
enum OwnedReach: Sendable {
  case table
  case key([UInt8])
  case subtree([UInt8])

  /// The reach of one key, and nothing below it.
  init(_ key: some TableKey) { self = .key(unsafe key.withKeyBytes { unsafe [UInt8]($0) }) }

  var isTable: Bool {
    if case .table = self { true } else { false }
  }

  /// - Parameter body: gets the reach, which is valid until it returns.
  func withReach<R, E: Error>(_ body: (BarrierReach) throws(E) -> R) throws(E) -> R {
    switch self {
    case .table: try body(.table)
    case .key(let key): try unsafe key.withKeyBytes { key throws(E) in try body(unsafe .key(key)) }
    case .subtree(let key): try unsafe key.withKeyBytes { key throws(E) in try body(unsafe .subtree(key)) }
    }
  }
}
