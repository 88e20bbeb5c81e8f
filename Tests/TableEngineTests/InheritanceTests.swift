import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// What the owner of the writer lock left when it died, the next owner finds, whatever happens to that one.
@Suite struct InheritanceTests {
  /// An owner that has died: its slot is in the word still, and it was between its begin and its first record, which nothing but
  /// `wseq` shows.
  private func leaveOwner(_ state: WriterState) {
    state.ctl.storeRelaxed(ControlLayout.writerSlot, 1000)
    state.bumpSequence()
  }

  private func isEven(_ state: WriterState) -> Bool { state.data.loadRelaxed(DataLayout.wseq) & 1 == 0 }

  @Test(arguments: Table.Variant.allCases) func theNextWriterFinishesForADeadOne(variant: Table.Variant) throws {
    let table = try Table.temporary(variant: variant)
    try table.set("a", 1)
    let state = try #require(table.segment.participant).state
    leaveOwner(state)
    try table.set("a", 2)
    #expect(isEven(state))
    #expect(table.statistics.recoveries == 1)
    try table.set("a", 3)
    #expect(table.statistics.recoveries == 1)
    #expect(try table.check() == [])
  }

  /// It puts its own slot into the word, and gives the lock back before it has recovered, as one does that finds its keys locked.
  @Test func anOwnerThatGivesTheLockBackLeavesTheWorkToTheNext() throws {
    let table = try Table.temporary(variant: .rcu)
    try table.set("a", 1)
    let participant = try #require(table.segment.participant)
    leaveOwner(participant.state)
    #expect(participant.lock.tryLock(slot: 0) == .acquired)
    participant.lock.unlock()
    try table.set("a", 2)
    #expect(isEven(participant.state))
    #expect(table.statistics.recoveries == 1)
  }

  /// Growth and shrinking count units first and say so second: who owns the lock after a death between the two says it, also a reader
  /// of the rwlock variant that only waits for the dead one's barrier to end.
  @Test func aWaitingReaderPublishesTheUnitsThatADeadWriterCounted() throws {
    let table = try Table.temporary(variant: .rwlock, capacityBytes: 8 << 20)
    for index in 0..<2_000 { try table.set("key \(index)", [UInt8](repeating: 1, count: 1_000)) }
    let segment = table.segment
    let participant = try #require(segment.participant)
    let published = segment.data.loadRelaxed(DataLayout.publishedBytes)
    // A thread that ends with the lock, with readers kept out, and outside any transaction.
    let thread = TestThread {
      let slot = Int(try segment.threadRecord().pointee.slotIndex)
      let outcome = try participant.lock.lock(slot: slot, timeoutNanoseconds: longNanoseconds)
      #expect(outcome == .acquired)
      try participant.exclusion.enterExclusive(slot: slot, deadline: .max)
      segment.data.storeRelaxed(DataLayout.publishedBytes, published - UInt64(Geometry.unitBytes))
    }
    try thread.join()
    #expect(try table.get("key 1") == [UInt8](repeating: 1, count: 1_000))
    #expect(segment.data.loadRelaxed(DataLayout.publishedBytes) == published)
    #expect(try table.check() == [])
  }

  /// What the process does with the lock next. Each of these does more than begin a transaction.
  enum NextTurn: CaseIterable { case shrinks, maintains, makesRoom }

  /// A thread may end inside a barrier while its process goes on. If another process undoes its work, nothing in the table tells this one
  /// of it any more: what it remembers of that barrier must not count.
  @Test(arguments: Table.Variant.allCases, NextTurn.allCases)
  func aThreadThatEndsInABarrierLeavesItsProcessOutsideOfOne(variant: Table.Variant, nextTurn: NextTurn) throws {
    try withTable(variant, capacityBytes: 16 << 20) { table throws in
      // So few keys that no sub-tables are merged: a merge begins a transaction, and ends it.
      let value = [UInt8](repeating: 1, count: 20_000)
      for index in 0..<250 { try table.set("key \(index)", value) }
      for index in 0..<250 where index % 5 != 0 { try table.remove("key \(index)") }
      let segment = table.segment
      let state = try #require(segment.participant).state
      try TestThread { try segment.beginBarrier(timeoutNanoseconds: longNanoseconds) }.join()
      let other = try worker(table)
      for number in 0..<10 { try other.ask("set k \(number)", expecting: "ok") }
      #expect(table.statistics.recoveries == 1)
      let version = table.version
      switch nextTurn {
      case .shrinks: _ = try table.administration.shrink()
      case .maintains:
        try table.administration.maintain()
        #expect(state.superseded.count == 0)
      case .makesRoom:
        LimboBudget(state: state).wantRoom(for: SizeClasses.code(byteCount: 3 << 20))
        try table.set("another", 1)
      }
      #expect(table.version >= version)
      #expect(try table.get("k") == "9")
      try other.finish()
    }
  }
}
