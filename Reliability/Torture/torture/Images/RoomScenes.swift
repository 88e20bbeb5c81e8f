import SharedTable
import TestSupport

/// Tables in which memory is to be put together again. What they hold stays the same.
extension Scene {
  /// No room for a large value is left in one piece: the barrier makes some, by moving entries and merging sub-tables.
  mutating func compacting() throws -> () throws -> Void {
    var generator = SplitMix(seed: 7)
    let count = try fillWithPadding(size: 900)
    for index in 0..<count where generator.below(10) != 0 {
      _ = try table.remove(Self.padding(index))
      model[Self.padding(index)] = nil
    }
    while try table.administration.maintain() == true {}
    let table = table
    do {
      try table.barrier { (tx: inout Transaction) in try tx.set(Self.key(5000), Self.value(5, size: 150_000)) }
    } catch let error as TableError where error.code == .full {
      return { try table.barrier { (_: inout Transaction) in } }
    }
    throw Unavailable("there is room for a large value")
  }

  /// Every block is in use, three smaller values lie in the reserve, which have taken the places of larger ones, and a barrier that replaces values
  /// by some of more sizes than the reserve has superframes was refused. The next one moves what lies there to where larger values were.
  mutating func movingToLargerBlocks() throws -> () throws -> Void {
    var generator = SplitMix(seed: 5)
    // Its slab has room for the key that a judge of an image stores. All others are larger.
    let small = Array("small".utf8)
    try table.set(small, small)
    model[small] = small
    var count = 0
    while try setPadding(count, size: generator.below(4000)) { count += 1 }
    for size in stride(from: 4000, through: 0, by: -16) { count += try fillWithPadding(size: size, from: count) }
    let large = (0..<count).filter { model[Self.padding($0)]!.count > 3000 }
    for (index, size) in zip(large, [300, 700, 1100]) {
      guard try setPadding(index, size: size) else { throw Unavailable("there is no room for a smaller value") }
    }
    let table = table
    do {
      try table.barrier { (tx: inout Transaction) in
        for (index, size) in zip(large.dropFirst(3), stride(from: 200, to: 1800, by: 200)) {
          try tx.set(Self.padding(index), Self.value(index, size: size))
        }
      }
    } catch let error as TableError where error.code == .full {
      let before = table.segment.work!.entriesGivenSlack
      return {
        try table.barrier { (_: inout Transaction) in }
        guard table.segment.work!.entriesGivenSlack > before else { throw Unavailable("no entry was given slack") }
      }
    }
    throw Unavailable("there is room for smaller values of many sizes")
  }

  /// - Returns: whether there was room for it.
  private mutating func setPadding(_ index: Int, size: Int) throws -> Bool {
    let value = Self.value(index, size: size)
    do throws(TableError) { try table.set(Self.padding(index), value) } catch {
      guard error.code == .full else { throw error }
      return false
    }
    model[Self.padding(index)] = value
    return true
  }

  private static func padding(_ index: Int) -> [UInt8] { key(4000 + index) }

  private static func value(_ index: Int, size: Int) -> [UInt8] { [UInt8](repeating: UInt8(index % 251), count: size) }

  /// - Returns: how many keys.
  private mutating func fillWithPadding(size: Int, from first: Int = 0) throws -> Int {
    var count = 0
    while try setPadding(first + count, size: size) { count += 1 }
    return count
  }

  /// The values of removed keys become free. As the table was full, no bound of its runs is higher than it has to be.
  mutating func freeingRuns() throws -> () throws -> Void {
    let count = try fillWithPadding(size: 12_000)
    for index in [2, 3, count / 2] {
      _ = try table.remove(Self.padding(index))
      model[Self.padding(index)] = nil
    }
    let table = table
    return { while try table.administration.maintain() == true {} }
  }

  /// A sub-table was split, and a key of it removed: its halves fit into one again.
  mutating func merging() throws -> () throws -> Void {
    let next = try splitNow()
    _ = try table.remove(next)
    let table = table
    return { _ = try table.administration.maintain(passes: 1) }
  }

  /// What is in use needs half of the memory that the table has: the rest goes back, and what lies there is moved before.
  mutating func shrinking() throws -> () throws -> Void {
    let count = try fillWithPadding(size: 900)
    for index in 0..<count where index % 16 != 0 {
      _ = try table.remove(Self.padding(index))
      model[Self.padding(index)] = nil
    }
    while try table.administration.maintain() == true {}
    return shrinkingWhole()
  }

  private func shrinkingWhole() -> () throws -> Void {
    let table = table
    return {
      while let step = try table.administration.shrink(), step.isUnfinished {}
    }
  }

  /// The table's last unit has a node of the directory, and of what lies before it little is left.
  mutating func movingANode() throws -> () throws -> Void {
    let prefix: UInt64 = 0b10_1100_1011
    let forge = KeyForge(seed: table.segment.hashSeed)
    var generator = SplitMix(seed: 9)
    // So many that the sub-tables below the node are not merged.
    for _ in 0..<1100 { try put(forge.key(hash: prefix << 54 | generator.next() >> 10)) }
    var count = 0
    while table.statistics.claimedBytes < table.capacityBytes {
      try table.set(Self.padding(count), Self.value(count, size: 900))
      count += 1
    }
    // Too many for one window, alike in the root's ten bits and parted by the next.
    for index in 0..<33 as Range<UInt64> {
      try put(forge.key(hash: prefix << 54 | (index & 1) << 53 | generator.next() >> 11 & ~0xff | 77))
    }
    for index in 0..<count { _ = try table.remove(Self.padding(index)) }
    while try table.administration.maintain() == true {}
    return shrinkingWhole()
  }
}
