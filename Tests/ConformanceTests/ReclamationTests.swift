import Dispatch
import SharedTable
import Synchronization
import TableEngine
import TableTestSupport
import TestSupport
import Testing

/// How superseded versions come back, and what that costs the writers (G7).
@Suite struct ReclamationTests {
  /// Without a snapshot nothing is unlinked: a later write takes what was superseded as it is, if it is of the same size, and
  /// else it is freed where it hangs. No version is spent on it.
  @Test(arguments: [1, 3, 7]) func supersededVersionsAreTakenOrFreedWithoutATransaction(sizes: Int) throws {
    try withPoisonedTable(Table.Options(capacityBytes: 4 << 20)) { _, table in
      func value(_ index: Int, _ round: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(round), count: 20 + (index * 5 + round) % sizes * 50)
      }
      for index in 0..<100 { try table.set("k\(index)", value(index, 0)) }
      let work = table.segment.work!
      let before = (version: table.version, freed: work.blocksFreed, recycled: work.blocksRecycled)
      for round in 1...100 { for index in 0..<100 { try table.set("k\(index)", value(index, round)) } }
      let (freed, recycled) = (work.blocksFreed - before.freed, work.blocksRecycled - before.recycled)
      #expect(table.version - before.version == 10_000)
      #expect(freed + recycled > 8_900)
      #expect(sizes > 1 || recycled > 8_900, "\(recycled) recycled, \(freed) freed")
      #expect(sizes == 1 || freed > 100 && recycled > 100, "\(recycled) recycled, \(freed) freed")
      for index in 0..<100 { #expect(try table.get("k\(index)") == value(index, 100)) }
      #expect(try table.check() == [])
    }
  }

  /// A barrier that makes the index larger has more to retire than what it superseded. Its journal says then where the ring of superseded
  /// versions begins, and a block that it took is not in the ring any more.
  /// Which barriers those are depends on the table's seed.
  @Test(arguments: 0..<20) func aBlockThatABarrierTookIsNotTakenAgain(attempt: Int) throws {
    try withPoisonedTable(Table.Options(capacityBytes: 4 << 20)) { _, table in
      let before = table.segment.work!.blocksRecycled
      for round in 0..<100 {
        try table.barrier { tx throws in
          for index in 0..<20 { try tx.set("k\(index)", round) }
          for index in 0..<30 { try tx.set("new\(round)/\(index)", round) }
        }
        for index in 0..<20 { #expect(try table.get("k\(index)") == round) }
      }
      for round in 0..<100 { for index in 0..<30 { #expect(try table.get("new\(round)/\(index)") == round) } }
      #expect(table.segment.work!.blocksRecycled - before > 1000)
      #expect(try table.check() == [])
    }
  }

  /// Keys that are removed leave the index without a transaction: no version is spent on it, and what they took comes back.
  @Test(arguments: [true, false]) func removedKeysLeaveTheIndexWithoutATransaction(poisons: Bool) throws {
    try withPoisonedTable(Table.Options(capacityBytes: 4 << 20), poisons) { _, table in
      let before = table.version
      for round in 0..<20 {
        for index in 0..<500 { try table.set("k\(index)", round) }
        for index in 0..<500 { #expect(try table.remove("k\(index)")) }
      }
      #expect(table.version - before == 20_000)
      #expect(table.statistics.limboBytes! < 256 << 10)
      #expect(try table.check() == [])
      _ = try table.administration.maintain()
      #expect(table.statistics.limboBytes == 0)
      #expect(try table.check() == [])
    }
  }

  /// A full table that is emptied by one barrier has room for the next, which must not wait for a version that only it could make.
  @Test(arguments: [false, true]) func whatOneBarrierRemovedIsRoomForTheNext(maintains: Bool) throws {
    try withPoisonedTable(Table.Options(capacityBytes: 1 << 20)) { _, table in
      let value = [UInt8](repeating: 1, count: 10_000)
      var count = 0
      let error = #expect(throws: TableError.self) {
        while count < 1000 {
          try table.barrier { tx throws in try tx.set("k\(count)", value) }
          count += 1
        }
      }
      #expect(error?.code == .full)
      try table.barrier { tx throws in for index in 0..<count { _ = try tx.remove("k\(index)") } }
      if maintains {
        _ = try table.administration.maintain()
        #expect(table.statistics.limboBytes == 0)
      }
      for index in 0..<count { try table.barrier { tx throws in try tx.set("k\(index)", value) } }
      #expect(table.count == count)
      #expect(try table.check() == [])
    }
  }

  /// A snapshot from before a removal finds the value, however many keys leave the index meanwhile.
  @Test func aRemovedKeyStaysInTheIndexForSnapshotsBelowItsRemoval() throws {
    try withPoisonedTable(Table.Options(capacityBytes: 4 << 20)) { _, table in
      for index in 0..<1000 { try table.set("k\(index)", index) }
      do {
        let snapshot = try table.snapshot()
        for index in 0..<1000 { #expect(try table.remove("k\(index)")) }
        for index in 0..<1000 { #expect(try snapshot.get("k\(index)") == index) }
        #expect(table.count == 0)
        #expect(try table.check() == [])
      }
      _ = try table.administration.maintain()
      #expect(table.statistics.limboBytes == 0)
      #expect(try table.check() == [])
    }
  }

  /// Blocks go from hand to hand: removes, puts of several sizes, barriers that throw, and snapshots that look back.
  @Test(arguments: [true, false]) func deletionsAndPutsInTurnLeaveNothingBehind(poisons: Bool) throws {
    struct ChangeOfMind: Error {}
    let seed = UInt64.random(in: 0 ... .max)
    var random = SplitMix(seed: seed)
    try withPoisonedTable(Table.Options(capacityBytes: 4 << 20), poisons) { _, table in
      var contents: [Int: [UInt8]] = [:]
      var snapshot: (Snapshot, [Int: [UInt8]])?
      for round in 0..<40_000 {
        let key = Int.random(in: 0..<200, using: &random)
        let size = Int.random(in: 0..<3, using: &random) * 60
        let value = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: size)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<15:
          #expect(try table.remove("k\(key)") == (contents[key] != nil), "seed \(seed)")
          contents[key] = nil
        case 15..<18:
          #expect(throws: ChangeOfMind.self) {
            try table.barrier { tx throws in
              for other in key..<key + 5 { try tx.set("k\(other)", value) }
              throw ChangeOfMind()
            }
          }
        case 18 where round % 4 == 0:
          if let (snapshot, contents) = snapshot {
            for key in 0..<200 { #expect(try snapshot.get("k\(key)") == contents[key], "seed \(seed), key \(key)") }
          }
          snapshot = snapshot == nil ? (try table.snapshot(), contents) : nil
        default:
          try table.set("k\(key)", value)
          contents[key] = value
        }
      }
      #expect(table.segment.work!.blocksRecycled > 50, "\(table.segment.work!.blocksRecycled)")
      for key in 0..<200 { #expect(try table.get("k\(key)") == contents[key], "seed \(seed), key \(key)") }
      #expect(try table.check() == [])
    }
  }

  /// The same inside a barrier that runs out of room: what earlier barriers superseded is freed under it, and whether it
  /// commits or throws, nothing is freed twice.
  @Test(arguments: [true, false]) func anOpenBarrierTakesRoomFromWhatWasSuperseded(commits: Bool) throws {
    struct ChangeOfMind: Error {}
    try withTable(.rcu, capacityBytes: 1 << 20) { table throws in
      let value = [UInt8](repeating: 1, count: 4000)
      for index in 0..<130 { try table.set("fill \(index)", value) }
      // Below the number of versions that make a commit collect by itself.
      for round in 0..<4 { for index in 0..<25 { try table.set("k\(index)", value + [UInt8(round)]) } }
      do {
        try table.barrier { tx throws in
          // Of another size, so that none takes a superseded block as it is; and so many that the index grows.
          for index in 0..<2500 { try tx.set("new \(index)", [UInt8]()) }
          if !commits { throw ChangeOfMind() }
        }
      } catch is ChangeOfMind {}
      #expect(try table.check() == [])
      #expect(table.count == (commits ? 2655 : 155))
      for index in 0..<25 { #expect(try table.get("k\(index)") == value + [3]) }
      for index in 0..<25 { try table.set("k\(index)", value) }
      #expect(try table.check() == [])
    }
  }

  /// A process stopped in a single get holds back all that is superseded after it. The writers' work must not grow with what
  /// has piled up: counted, over the worst single write.
  @Test(.timeLimit(.minutes(20))) func aReaderStoppedInAGetDoesNotMakeWritesSlower() throws {
    try withTable(.rcu, capacityBytes: 64 << 20) { table throws in
      func worstWrite() throws -> Int {
        var worst = 0
        for round in 0..<20_000 {
          let before = table.segment.work!.all.reduce(0, +)
          // Of several sizes: else each write would take what an earlier one superseded, and none would make a pass.
          try table.set("hot", [UInt8](repeating: 0, count: round % 7 * 40))
          worst = max(worst, table.segment.work!.all.reduce(0, +) - before)
        }
        return worst
      }
      let undisturbed = try worstWrite()
      let (slotTaken, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let slotNumber = Atomic(0)
      let reader = TestThread {
        _ = try table.get("hot", as: [UInt8].self)
        slotNumber.store(table.segment.threadNumber, ordering: .releasing)
        slotTaken.signal()
        mayEnd.wait()
      }
      defer {
        mayEnd.signal()
        reader.joinQuietly()
      }
      slotTaken.wait()
      // What a get stores before it looks anything up: it never comes to store that it has ended.
      let ctl = table.segment.controlMemory!
      let slot = slotNumber.load(ordering: .acquiring)
      let word = ControlLayout.slots + slot * ControlLayout.slotBytes + SlotLayout.snapshot
      let idle = ctl.loadAcquire(word)
      ctl.storeRelease(word, table.version)
      let disturbed = try worstWrite()
      // The table grows meanwhile: a search of the 64 superframes of its last unit, and of those of a new one.
      #expect(disturbed <= 4 * undisturbed + 128, "\(disturbed) steps in one write, \(undisturbed) without the reader")
      ctl.storeRelease(word, idle)
      _ = try table.administration.maintain()
      #expect(try table.check() == [])
      #expect(table.statistics.limboBytes == 0)
    }
  }
}
