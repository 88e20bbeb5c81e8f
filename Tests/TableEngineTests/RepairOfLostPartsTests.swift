import Synchronization
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A directory word of which only the depth is damaged leads readers to its sub-table, and repair to nothing: that part of the index is lost, and
/// readers find its keys until repair leads them elsewhere.
@Suite struct RepairOfLostPartsTests {
  private static let timeout: UInt64 = 20_000_000_000

  /// A part of the index that one directory word covers alone.
  private struct Part {
    /// Of its directory word.
    let place: Int
    let key: [UInt8]
  }

  /// 2,000 keys below one word of the root, which is a node's, and a part of them.
  private func fill(_ table: Table) throws -> Part {
    let forge = KeyForge(seed: table.segment.hashSeed)
    let hashes = (0..<UInt64(2_000)).map { $0 << 40 }
    for hash in hashes { try table.set(forge.key(hash: hash), [UInt8](repeating: 7, count: 100)) }
    let lookup = Lookup(data: table.segment.data)
    let node = DirectoryWord(table.segment.data.loadRelaxed(DataLayout.root))
    #expect(node.isNode)
    let hash = try #require(
      hashes.first { lookup.directoryWord(hash: $0).word.bits == DataLayout.rootBits + node.bits })
    return Part(place: lookup.directoryWord(hash: hash).offset, key: forge.key(hash: hash))
  }

  /// No sub-table is so deep. Readers do not look at the depth.
  private func lose(_ part: Part, _ data: MappedMemory) {
    let word = data.loadRelaxed(part.place)
    data.storeRelaxed(part.place, word ^ 1 << (DirectoryWord.bitsShift + 5))
  }

  /// Leaves what a repair does that does not come to its end after it has led the readers of a lost part to the log.
  private func leadNowhere(_ place: Int, _ state: WriterState) {
    let depth = DirectoryWord(state.data.loadRelaxed(place)).bits
    DamageMark(ctl: state.ctl).set()
    state.log.restart(after: state.committed)
    state.data.zero(DataLayout.log, count: SubTable.byteCount)
    state.data.storeRelease(place, DirectoryWord(subTable: DataLayout.log, depth: depth).raw)
  }

  @Test func itsMemoryIsUsedAgainWhenNoReaderIsLeftThatMayLookAtIt() throws {
    try withTable(.rcu) { table throws in
      let part = try fill(table)
      let segment = table.segment
      let observer = try Table.open(table.name, access: .observer)
      // Started before any of repair's waits has begun to count.
      let (older, middle) = (try worker(table), try worker(table))
      try #require(try older.ask("read").hasPrefix("in"))
      lose(part, segment.data)
      try #require(try table.get(part.key, as: [UInt8].self) != nil)
      let hasEnded = Atomic(false)
      let first = segment.committed
      let repair = TestThread {
        defer { hasEnded.store(true, ordering: .releasing) }
        return try Repairer(segment).run(timeoutNanoseconds: Self.timeout).isRepaired
      }
      func waitForNext(after version: UInt64) throws {
        try #require(eventually { segment.committed != version || hasEnded.load(ordering: .acquiring) })
      }
      // Each reader keeps repair at one of its waits, while the next one begins.
      try waitForNext(after: first)
      let second = segment.committed
      try #require(try middle.ask("read").hasPrefix("in"))
      try older.ask("end", expecting: "ok")
      try waitForNext(after: second)
      let third = segment.committed
      try table.read { view in
        #expect(try view.get(part.key, as: [UInt8].self) == nil, "repair does not wait for this section to end")
        #expect(try observer.get(part.key, as: [UInt8].self) == nil)
        try middle.ask("end", expecting: "ok")
        try waitForNext(after: third)
        let ended = hasEnded.load(ordering: .acquiring)
        #expect(!ended, "this section may look for a key where the next writer puts a record of the change log")
      }
      #expect(try repair.join())
      #expect(try table.check() == [])
      #expect(try observer.get(part.key, as: [UInt8].self) == nil)
      try table.set(part.key, [UInt8](repeating: 8, count: 100))
      #expect(try observer.get(part.key, as: [UInt8].self) == [UInt8](repeating: 8, count: 100))
    }
  }

  /// A node of two words, of which one leads to a lost part: what a repair leaves that was kept from its end must not make the node
  /// incredible.
  @Test(arguments: Table.Variant.allCases) func theNextRepairKeepsTheOtherPartsOfANode(_ variant: Table.Variant) throws
  {
    try withTable(variant) { table throws in
      let state = try #require(table.segment.participant).state
      let forge = KeyForge(seed: table.segment.hashSeed)
      var hashes: [UInt64] = []
      func node() -> DirectoryWord { DirectoryWord(state.data.loadRelaxed(DataLayout.root)) }
      // Below one word of the root, evenly on both sides of its first bit.
      while !node().isNode {
        let hash = UInt64(hashes.count & 1) << 53 | UInt64(hashes.count) << 30
        try table.set(forge.key(hash: hash), hashes.count)
        hashes.append(hash)
      }
      try #require(node().bits == 1)
      let lost = node().offset + 8
      leadNowhere(lost, state)
      #expect(try table.repair().isRepaired)
      #expect(try table.check() == [])
      for (index, hash) in hashes.enumerated() {
        #expect(try table.get(forge.key(hash: hash), as: Int.self) == (hash >> 53 == 0 ? index : nil))
      }
    }
  }

  /// What a repair leaves that died after it had led readers of the lost part elsewhere.
  @Test(arguments: Table.Variant.allCases) func whatADeadRepairPutInItsPlaceIsNoSubTable(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let part = try fill(table)
      let state = try #require(table.segment.participant).state
      leadNowhere(part.place, state)
      #expect(try table.repair().isRepaired)
      #expect(DirectoryWord(state.data.loadRelaxed(part.place)).offset >= state.geometry.unitsOffset)
      #expect(try table.check() == [])
      #expect(try table.get(part.key, as: [UInt8].self) == nil)
      try table.set(part.key, [1])
    }
  }
}
