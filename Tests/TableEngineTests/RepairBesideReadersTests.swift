import Synchronization
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A repair frees blocks of *data*: no reader may look at them, and no writer may free them once more.
@Suite struct RepairBesideReadersTests {
  private static let timeout: UInt64 = 20_000_000_000

  /// Offset of a key's bucket word.
  private func word(_ key: String, _ state: WriterState) throws -> Int {
    let subTable = DirectoryWord(state.data.loadRelaxed(DataLayout.root)).offset
    let found = stride(from: subTable, to: subTable + SubTable.byteCount, by: 8).first { word in
      let entry = BucketWord.offset(state.data.loadRelaxed(word))
      guard entry != 0 else { return false }
      let meta = EntryMeta(raw: state.data.loadRelaxed(entry + Entry.meta))
      return meta.keyLength == key.utf8.count
        && (0..<meta.keyLength).allSatisfy {
          state.data.byte(entry + meta.keyOffset + $0) == Array(key.utf8)[$0]
        }
    }
    return try #require(found)
  }

  /// The newest entry of a key gets a version that no commit has given it. The one before it is in a ring.
  private func damageVersion(_ key: String, _ state: WriterState) throws {
    let head = BucketWord.offset(state.data.loadRelaxed(try word(key, state)))
    state.data.storeRelease(head + Entry.version, state.committed + 1_000)
  }

  @Test func oneThatAnOldReaderKeepsFromItsEndHasChangedNothing() throws {
    try withTable(.rcu) { table throws in
      for index in 0..<100 { try table.set("key \(index)", index) }
      let state = try #require(table.segment.participant).state
      let reader = try worker(table)
      try #require(try reader.ask("read").hasPrefix("in"))
      try table.set("key 7", 8)
      try damageVersion("key 7", state)
      func contents() -> [UInt64] {
        stride(from: 0, to: state.blockPlaces.end, by: 8).map { state.data.loadRelaxed($0) }
      }
      let before = contents()
      #expect(throws: EngineError.self) { try Repairer(table.segment).run(timeoutNanoseconds: 50_000_000) }
      #expect(contents() == before)
      #expect(state.ctl.loadRelaxed(ControlLayout.damaged) == 0)
      try reader.ask("end", expecting: "ok")
      #expect(try Repairer(table.segment).run(timeoutNanoseconds: Self.timeout).isRepaired)
    }
  }

  /// A writer would free the older version's block, whose record is in a ring still, or free it twice.
  @Test func oneThatRevivedAnOlderVersionAndCouldNotEndKeepsWritersOut() throws {
    try withTable(.rcu) { table throws in
      for index in 0..<100 { try table.set("key \(index)", index) }
      let state = try #require(table.segment.participant).state
      try table.set("key 7", 8)
      try damageVersion("key 7", state)
      let reader = try worker(table)
      try #require(try reader.ask("read").hasPrefix("in"))
      #expect(throws: EngineError.self) { try Repairer(table.segment).run(timeoutNanoseconds: 50_000_000) }
      #expect(code { try table.set("key 7", 9) } == .damaged)
      #expect(try table.get("key 7") == 7)
      try reader.ask("end", expecting: "ok")
      #expect(try Repairer(table.segment).run(timeoutNanoseconds: Self.timeout).isRepaired)
      for index in 0..<100 { #expect(try table.get("key \(index)") == index) }
      for index in 0..<100 { try table.set("key \(index)", -index) }
    }
  }

  /// A section that began when the older ones were waited for may look at a tombstone.
  @Test func tombstonesAreFreedWhenNoReaderIsLeftThatMayLookAtThem() throws {
    try withTable(.rcu) { table throws in
      for index in 0..<100 { try table.set("key \(index)", index) }
      let segment = table.segment
      let state = try #require(segment.participant).state
      let older = try worker(table)
      try #require(try older.ask("read").hasPrefix("in"))
      state.data.storeRelaxed(try word("key 1", state), state.data.loadRelaxed(try word("key 2", state)))
      let first = segment.committed
      let hasEnded = Atomic(false)
      let repair = TestThread {
        defer { hasEnded.store(true, ordering: .releasing) }
        return try Repairer(segment).run(timeoutNanoseconds: Self.timeout).isRepaired
      }
      // It waits for the reader that began before its tick.
      try #require(eventually { segment.committed != first })
      try table.read { _ in
        let second = segment.committed
        try older.ask("end", expecting: "ok")
        try #require(eventually { segment.committed != second || hasEnded.load(ordering: .acquiring) })
        let ended = hasEnded.load(ordering: .acquiring)
        #expect(!ended, "it has not waited for this section")
      }
      #expect(try repair.join())
    }
  }
}
