import SharedTable
import TestSupport

/// Tables whose index is about to make room in each of its ways. Keys are forged for it: in good faith it takes millions.
extension Scene {
  /// The next key has no room in its window: its sub-table splits.
  mutating func splitting() throws -> () throws -> Void {
    let seed = table.segment.hashSeed
    return putting(try putUntilWordsMove { Self.key($0, prefix: 0, bits: 0, seed) }, Self.value(1, round: 50))
  }

  /// The same below a node of 8 directory words, which becomes one of 16.
  mutating func doublingANode() throws -> () throws -> Void {
    let prefix: UInt64 = 0b1011_0010_1101
    // Too many for one window, alike in 12 bits and parted by the next.
    for index in 0..<33 { try put(key(index, prefix: prefix << 1 | UInt64(index & 1), bits: 13)) }
    _ = try table.administration.maintain()
    let seed = table.segment.hashSeed
    let next = try putUntilWordsMove { Self.key(1000 + $0, prefix: prefix << 2 | UInt64($0 & 1), bits: 14, seed) }
    return putting(next, Self.value(1, round: 50))
  }

  /// Below a root word is a node of two sub-tables, most of whose keys were removed: they merge, and then what is below the node with
  /// what is beside it, and so on up to the whole index.
  mutating func dissolvingANode() throws -> () throws -> Void {
    let prefix: UInt64 = 0b10_1100_1011
    let keys = (0..<33).map { key($0, prefix: prefix << 1 | UInt64($0 & 1), bits: 11) }
    for key in keys { try put(key) }
    for key in keys.dropFirst() {
      _ = try table.remove(key)
      model[key] = nil
    }
    let table = table
    return { _ = try table.administration.maintain(passes: 1) }
  }

  /// A sub-table at the deepest level has no room: it is rebuilt deep.
  mutating func deepening() throws -> () throws -> Void {
    try putDownToTheDeepest()
    let seed = table.segment.hashSeed
    let next = try putUntilWordsMove { Self.key(1000 + $0, prefix: Self.deepest, bits: 22, seed) }
    return putting(next, Self.value(1, round: 50))
  }

  /// A deep sub-table is full: a further one is linked to it.
  mutating func linking() throws -> () throws -> Void {
    try putDownToTheDeepest()
    // 17 of those put so far are in it.
    for index in 17..<2048 { try put(key(1000 + index, prefix: Self.deepest, bits: 22)) }
    _ = try table.administration.maintain()
    return putting(key(9000, prefix: Self.deepest, bits: 22), Self.value(1, round: 50))
  }

  private static let deepest: UInt64 = 0b10_1100_1011_0100_1101_0110

  private mutating func putDownToTheDeepest() throws {
    for index in 0..<33 { try put(key(index, prefix: Self.deepest ^ UInt64(index & 1), bits: 22)) }
    _ = try table.administration.maintain()
  }

  /// A key whose hash begins with these bits, of one home bucket.
  private func key(_ index: Int, prefix: UInt64, bits: UInt64) -> [UInt8] {
    Self.key(index, prefix: prefix, bits: bits, table.segment.hashSeed)
  }

  private static func key(_ index: Int, prefix: UInt64, bits: UInt64, _ seed: UInt64) -> [UInt8] {
    var random = SplitMix(seed: UInt64(index))
    let rest = random.next() >> bits & ~0xff | 77
    return KeyForge(seed: seed).key(hash: bits == 0 ? rest : prefix << (64 - bits) | rest)
  }

  mutating func put(_ key: [UInt8]) throws {
    try table.set(key, Self.value(1, round: 50))
    model[key] = Self.value(1, round: 50)
  }

  /// The next key has no room in its window: what splits its sub-table is taken back, and the barrier goes on.
  mutating func splittingInAPart() throws -> () throws -> Void {
    let seed = table.segment.hashSeed
    let next = try putUntilWordsMove { Self.key($0, prefix: 0, bits: 0, seed) }
    let value = Self.value(1, round: 50)
    return inBarrier([(Self.key(20), value)], part: [(Self.key(20), nil), (next, value), (Self.key(21), value)])
  }

  /// Splits a sub-table.
  /// - Returns: the key that it was split for, which is in it.
  mutating func splitNow() throws -> [UInt8] {
    let seed = table.segment.hashSeed
    let next = try putUntilWordsMove { Self.key($0, prefix: 0, bits: 0, seed) }
    try table.set(next, Self.value(1, round: 50))
    return next
  }

  /// Sets keys until one more makes the index move words; that is tried in barriers that are taken back.
  /// - Returns: that one.
  private mutating func putUntilWordsMove(_ key: (Int) -> [UInt8]) throws -> [UInt8] {
    let work = table.segment.work!
    var index = 0
    while true {
      let next = key(index)
      index += 1
      let moved = work.wordsMoved
      do {
        try table.barrier { (tx: inout Transaction) in
          try tx.set(next, Self.value(1, round: 50))
          if work.wordsMoved > moved { throw ChangeOfMind() }
        }
        model[next] = Self.value(1, round: 50)
      } catch is ChangeOfMind {
        _ = try table.administration.maintain()
        return next
      }
    }
  }
}
