import SharedTable

/// Barriers of which a part throws and is rolled back to its savepoint.
extension Scene {
  /// nil removes the key.
  typealias Change = (key: [UInt8], value: [UInt8]?)

  /// Keys of which each is changed before the part, in it twice and in one within it, and partly after it.
  mutating func rollingBack(aborted: Bool) -> () throws -> Void {
    func changes(_ keys: Range<Int>, round: Int) -> [Change] {
      keys.map { (Self.key($0), $0 % 3 == round % 3 ? nil : Self.value($0, round: round)) }
    }
    return inBarrier(
      changes(20..<26, round: 60), part: changes(22..<30, round: 61) + changes(26..<32, round: 62),
      partWithin: changes(20..<24, round: 63) + changes(3000..<3004, round: 64), aborted: aborted,
      after: changes(24..<28, round: 65) + changes(3000..<3002, round: 66))
  }

  /// - Parameters:
  ///   - part: what a part does before one within it, which throws, and once more after that; then it throws.
  ///   - aborted: whether the barrier throws, too.
  mutating func inBarrier(
    _ first: [Change], part: [Change], partWithin: [Change] = [], aborted: Bool = false, after: [Change] = []
  ) -> () throws -> Void {
    if !aborted { expect(first + after) }
    let table = table
    return {
      try catching {
        try table.barrier { (tx: inout Transaction) throws in
          try apply(first, to: &tx)
          try catching {
            try tx.withSavepoint { (outer: inout Transaction) throws in
              try apply(part, to: &outer)
              try catching {
                try outer.withSavepoint { (inner: inout Transaction) throws in
                  try apply(partWithin, to: &inner)
                  throw ChangeOfMind()
                }
              }
              try apply(part.reversed(), to: &outer)
              throw ChangeOfMind()
            }
          }
          try apply(after, to: &tx)
          if aborted { throw ChangeOfMind() }
        }
      }
    }
  }
}

private func apply(_ changes: [Scene.Change], to tx: inout Transaction) throws {
  for (key, value) in changes {
    if let value { try tx.set(key, value) } else { _ = try tx.remove(key) }
  }
}

private func catching(_ body: () throws -> Void) throws {
  do { try body() } catch is Scene.ChangeOfMind {}
}
