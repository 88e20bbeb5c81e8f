import Dispatch
import SharedTable
import Synchronization
import TableEngine
import TableTestSupport
import TestSupport
import Testing

/// How superseded versions come back, and what that costs the writers (G7).
@Suite struct ReclamationTests {
  /// Without a snapshot nothing is unlinked: what was superseded is freed where it hangs, and no version is spent on it.
  @Test func supersededVersionsAreFreedWithoutATransaction() throws {
    try withTable(.rcu, capacityBytes: 4 << 20) { table throws in
      for index in 0..<100 { try table.set("k\(index)", index) }
      let before = (table.version, table.segment.work!.blocksFreed)
      for round in 0..<100 { for index in 0..<100 { try table.set("k\(index)", round) } }
      #expect(table.version - before.0 == 10_000)
      #expect(table.segment.work!.blocksFreed - before.1 > 9_000)
      #expect(try table.check() == [])
    }
  }

  /// The same inside a barrier that runs out of room: what earlier barriers superseded is freed under it, and whether it
  /// commits or throws, nothing is freed twice.
  @Test(arguments: [true, false]) func anOpenBarrierTakesRoomFromWhatWasSuperseded(commits: Bool) throws {
    struct ChangeOfMind: Error {}
    try withTable(.rcu, capacityBytes: 1 << 20) { table throws in
      let value = [UInt8](repeating: 1, count: 4000)
      // Below the number of versions that make a commit collect by itself.
      for round in 0..<4 { for index in 0..<25 { try table.set("k\(index)", value + [UInt8(round)]) } }
      do {
        try table.barrier { tx throws in
          for index in 0..<180 { try tx.set("new \(index)", value) }
          if !commits { throw ChangeOfMind() }
        }
      } catch is ChangeOfMind {}
      #expect(try table.check() == [])
      #expect(table.count == (commits ? 205 : 25))
      for index in 0..<25 { #expect(try table.get("k\(index)") == value + [3]) }
      for index in 0..<25 { try table.set("k\(index)", value) }
      #expect(try table.check() == [])
    }
  }

  /// A process stopped in a single get holds back all that is superseded after it. The writers' work must not grow with what
  /// has piled up: counted, over the worst single write.
  @Test(.timeLimit(.minutes(5))) func aReaderStoppedInAGetDoesNotMakeWritesSlower() throws {
    try withTable(.rcu, capacityBytes: 64 << 20) { table throws in
      func worstWrite() throws -> Int {
        var worst = 0
        for round in 0..<20_000 {
          let before = table.segment.work!.all.reduce(0, +)
          try table.set("hot", round)
          worst = max(worst, table.segment.work!.all.reduce(0, +) - before)
        }
        return worst
      }
      let undisturbed = try worstWrite()
      let (slotTaken, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let slotNumber = Atomic(0)
      let reader = TestThread {
        _ = try table.get("hot", as: Int.self)
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
      #expect(disturbed <= 4 * undisturbed, "\(disturbed) steps in one write, \(undisturbed) without the reader")
      ctl.storeRelease(word, idle)
      _ = try table.maintain()
      #expect(try table.check() == [])
      #expect(table.statistics.limboBytes == 0)
    }
  }
}
