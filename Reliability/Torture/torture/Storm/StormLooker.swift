import Glibc
import SharedMemory
import SharedTable
import TestSupport

/// What everybody who reads looks at, all the time: is this one committed state of the whole table (G1, G2, G4)?
struct StormLooker {
  let table: Table
  let board: StormBoard
  let seat: Int
  /// Places whose processes write.
  let writers: Range<Int>
  var generator: SplitMix

  /// One section with a random choice of looks in it.
  mutating func section() throws {
    let newest = board[.newest]
    let done = writers.map { board.count($0, .done) }
    var tallies: [UInt64] = []
    var seen: UInt64 = 0
    try table.read { view in
      seen = view.version
      if seen < newest { throw Broken("a section shows version \(seen), after \(newest) was seen by somebody (G4)") }
      tallies = try look(view, done)
    }
    try checkUpperBounds(tallies)
    board.raiseNewest(to: seen)
    board.add(seat, .sections)
  }

  /// - Returns: the writers' tallies.
  private mutating func look(_ view: borrowing ReadView, _ done: [UInt64]) throws -> [UInt64] {
    try Self.checkBank(view)
    let tallies = try tallies(view)
    for (index, tally) in tallies.enumerated() where tally < done[index] {
      throw Broken(
        "of \(done[index]) barriers that returned in place \(writers.lowerBound + index), \(tally) are there")
    }
    try Self.checkGroup(view, StormContents.groups[generator.below(StormContents.groups.count)])
    try checkChurned(view, 6)
    try checkLeases(view)
    switch generator.below(500) {
    case 0: try checkAll(view)
    case 1..<10:
      // Writers go on meanwhile, in the RCU variant, and gc with them.
      usleep(UInt32(generator.below(3000)))
      try Self.checkBank(view)
      guard try self.tallies(view) == tallies else { throw Broken("a section's tallies changed in it (G1)") }
    default: break
    }
    return tallies
  }

  private func checkUpperBounds(_ tallies: [UInt64]) throws {
    for (index, seat) in writers.enumerated() {
      let began = board.count(seat, .began)
      if tallies[index] > began {
        throw Broken("place \(seat) began \(began) barriers, but \(tallies[index]) are there")
      }
    }
  }

  static func checkBank(_ view: borrowing ReadView) throws {
    var sum = 0
    for key in StormContents.accounts {
      guard let value = try view.bytes(forKey: key) else {
        throw Broken("\(key) is absent at version \(view.version) (G1)")
      }
      sum += try value.withUnsafeBytes { try StormContents.balance($0, key) }
    }
    if sum != StormContents.total {
      throw Broken("the accounts hold \(sum) at version \(view.version), not \(StormContents.total) (G2)")
    }
  }

  func tallies(_ view: borrowing ReadView) throws -> [UInt64] {
    var tallies: [UInt64] = []
    for seat in writers {
      guard let tally = try view.get(StormContents.tally(seat), as: Int.self) else {
        throw Broken("\(StormContents.tally(seat)) is absent at version \(view.version) (G1)")
      }
      tallies.append(UInt64(tally))
    }
    return tallies
  }

  static func checkGroup(_ view: borrowing ReadView, _ group: [String]) throws {
    var first: UInt64?
    for key in group {
      guard let value = try view.bytes(forKey: key) else { throw Broken("\(key) is absent (G1)") }
      let id = try value.withUnsafeBytes { try StormContents.identity($0, key) }
      if id != first ?? id {
        throw Broken("\(key) is of write \(id), another member of \(first!), at one version (G2)")
      }
      first = id
    }
  }

  private mutating func checkChurned(_ view: borrowing ReadView, _ count: Int) throws {
    for _ in 0..<count {
      let number = generator.below(Int(board[.ceiling]))
      guard let value = try view.bytes(forKey: StormContents.churned(number)) else { continue }
      try value.withUnsafeBytes { try StormContents.check(churned: number, $0) }
    }
  }

  private mutating func checkLeases(_ view: borrowing ReadView) throws {
    let key = StormContents.leases[generator.below(StormContents.leases.count)]
    guard let entry = try view.entry(forKey: key) else { return }
    guard let expiry = entry.expiry else { throw Broken("\(key) has no expiry") }
    if expiry <= view.now { throw Broken("\(key) was shown \(view.now - expiry) ns after its time") }
    let id = try entry.bytes.withUnsafeBytes { try StormContents.identity($0, key) }
    if id != expiry { throw Broken("\(key) expires at \(expiry), its value says \(id)") }
  }

  /// A long section over everything.
  private func checkAll(_ view: borrowing ReadView) throws {
    try view.forEach { key, entry in
      let key = key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      if !key.hasPrefix("tally") { _ = try entry.bytes.withUnsafeBytes { try StormContents.identity($0, key) } }
    }
    try Self.checkBank(view)
  }

  /// Single reads, by both of their paths: what is always there must be there, whole.
  mutating func gets(_ count: Int, _ buffer: UnsafeMutableRawBufferPointer) throws {
    for _ in 0..<count {
      let key = StormContents.accounts[generator.below(StormContents.accounts.count)]
      if generator.below(4) == 0 {
        try Self.get(table, key, buffer)
      } else {
        guard let bytes = try table.bytes(forKey: key) else { throw Broken("\(key) is absent for a single read (G1)") }
        _ = try bytes.withUnsafeBytes { try StormContents.balance($0, key) }
      }
    }
    board.add(seat, .reads, count)
  }

  @inline(__always)
  static func get(_ table: Table, _ key: String, _ buffer: UnsafeMutableRawBufferPointer) throws {
    let length = try key.withKeyBytes { bytes throws(TableError) in try table.get(bytes, into: buffer) }
    guard let length else { throw Broken("\(key) is absent for a single read (G1)") }
    _ = try StormContents.balance(UnsafeRawBufferPointer(rebasing: buffer[..<length]), key)
  }
}
