/// Iteration: sub-table by sub-table, in the order of the hash.
public struct ScanCursor: Sendable, Equatable {
  /// First hash that was not visited yet; nil when all were.
  public internal(set) var position: UInt64?

  public init() { position = 0 }
  /// A cursor that was carried outside the process: ``position`` of a former one.
  public init(position: UInt64) { self.position = position }
  public var isAtEnd: Bool { position == nil }
}

extension ScanCursor {
  /// Is this the first hash of its prefix of `depth` bits?
  static func isBeginning(_ position: UInt64, depth: Int) -> Bool {
    return depth == 0 ? position == 0 : position << UInt64(depth) == 0
  }

  /// Behind the prefix of `depth` bits that holds `position`.
  mutating func advance(past position: UInt64, depth: Int) {
    guard depth > 0 else { return self.position = nil }
    let span: UInt64 = 1 << UInt64(64 - depth)
    let next = (position & ~(span - 1)) &+ span
    self.position = next == 0 ? nil : next
  }
}
