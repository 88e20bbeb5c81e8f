import SharedMemory
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// Which reader is blamed for memory that cannot be reused, and since when.
@Suite struct ReaderInTheWayTests {
  /// To end a snapshot frees nothing that an open section keeps.
  @Test func noSnapshotIsEndedForWhatASectionKeeps() throws {
    let options = Table.Options(capacityBytes: 8 << 20, limboBudgetBytes: 256 << 10, stalledReaderPolicy: .evict)
    try withPoisonedTable(options) { _, table throws in
      try table.set("k", "old")
      let snapshot = try table.snapshot()
      try table.set("k", "new")
      let reader = try worker(table)
      _ = try reader.ask("read")
      var refused: TableError?
      for round in 0..<2000 where refused == nil {
        refused = error { try table.set("pad\(round % 10)", [UInt8](repeating: 1, count: 1000)) }
      }
      #expect(refused?.code == .full && refused?.holder?.pid == reader.pid, "\(String(describing: refused))")
      try reader.ask("end", expecting: "ok")
      try table.set("pad0", [2])
      #expect(try snapshot.get("k") == "old")
      #expect(try table.check() == [])
      try reader.finish()
    }
  }

  /// What both read is superseded once: all of it is in *retained*, behind nothing else.
  @Test func noSnapshotIsEndedForWhatASectionReadsToo() throws {
    let options = Table.Options(capacityBytes: 8 << 20, limboBudgetBytes: 256 << 10, stalledReaderPolicy: .evict)
    try withPoisonedTable(options) { _, table throws in
      let value = [UInt8](repeating: 1, count: 1000)
      for index in 0..<2000 { try table.set("key\(index)", value) }
      let snapshot = try table.snapshot()
      let reader = try worker(table)
      _ = try reader.ask("read")
      var refused: TableError?
      for index in 0..<2000 where refused == nil { refused = error { try table.set("key\(index)", [2]) } }
      #expect(refused?.code == .full && refused?.holder?.pid == reader.pid, "\(String(describing: refused))")
      #expect(try snapshot.get("key0") == value)
      try reader.ask("end", expecting: "ok")
      for index in 0..<2000 { try table.set("key\(index)", [3]) }
      #expect(code { try snapshot.get("key0", as: [UInt8].self) } == .snapshotTooOld)
      #expect(try table.check() == [])
      try reader.finish()
    }
  }

  /// Its pin protects a section, however many snapshots a step ends.
  @Test func anOpenSectionIsNotEndedWithTheSnapshots() throws {
    let options = Table.Options(capacityBytes: 1 << 20, stalledReaderPolicy: .evict)
    try withPoisonedTable(options) { _, table throws in
      let participant = try #require(table.segment.participant)
      let state = participant.state
      try table.set("k", 1)
      let snapshot = try table.snapshot()
      try table.set("k", 2)
      let reader = try worker(table)
      _ = try reader.ask("read")
      try table.set("another", 1)
      let slot = Int(try table.segment.threadRecord().pointee.slotIndex)
      #expect(participant.lock.tryLock(slot: slot) == .acquired)
      state.eviction = EvictionProgress(after: EvictionProgress(), now: HostClock.monotonicNanoseconds)
      state.eviction.count = 8
      _ = Evictor(state: state).evict(sparingBesideAnyReader: false) { true }
      participant.lock.unlock()
      #expect(code { try snapshot.get("k", as: Int.self) } == .snapshotTooOld)
      #expect(table.statistics.readers.contains { $0.holder.pid == reader.pid && $0.version != nil && !$0.isEvicted })
      try reader.ask("end", expecting: "ok")
      try reader.finish()
    }
  }

  /// Twice as many as before are ended only for the same need.
  @Test func theEvictorBeginsAnewAfterAWhile() {
    let now: UInt64 = 9_000_000_000
    var progress = EvictionProgress(after: EvictionProgress(), now: now)
    #expect(progress.count == 1)
    progress.count = 8
    #expect(EvictionProgress(after: progress, now: now + 16_000_000).count == 8)
    #expect(EvictionProgress(after: progress, now: now + 2_000_000_000).count == 1)
  }

  /// Uses of one snapshot are at one version: the last of them may have begun just now.
  @Test func aUseOfASnapshotIsNotInTheWaySinceAnEarlierOne() throws {
    try withPoisonedTable(Table.Options(capacityBytes: 1 << 20)) { _, table throws in
      let state = try #require(table.segment.participant).state
      func isKnownToBeInTheWay() throws -> Bool {
        _ = ReaderScan.take(state)
        let record = unsafe try table.segment.threadRecord()
        return state.slots.inTheWaySince(unsafe Int(record.pointee.slotIndex)) != nil
      }
      let writer = try worker(table)
      let snapshot = try table.snapshot()
      try table.set("k", 1)
      try snapshot.read { _ throws in
        // The next use, at the same version of the table, would be taken for this one.
        #expect(try !isKnownToBeInTheWay())
        try writer.ask("set k 2", expecting: "ok")
        #expect(try isKnownToBeInTheWay())
      }
      try snapshot.read { _ throws in #expect(try !isKnownToBeInTheWay()) }
      try writer.finish()
    }
  }

  /// It reads at the newest version, which nothing has superseded.
  @Test func aReaderThatKeepsNothingIsNotBlamed() throws {
    let table = try Table.temporary(capacityBytes: 1 << 20)
    let state = try #require(table.segment.participant).state
    try table.set("k", 1)
    try table.read { _ in
      guard case .limbo(nil) = Culprit(state: state).shortage(of: nil) else {
        Issue.record("a reader of the newest version is blamed")
        return
      }
    }
  }
}
