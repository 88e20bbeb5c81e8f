import Testing

@testable import SharedTable
@testable import TableEngine

/// What the owner of the writer lock left when it died, the next owner finds, whatever happens to that one.
@Suite struct InheritanceTests {
  /// An owner that has died: its slot is in the word still, and it was between its begin and its first record, which nothing but
  /// `wseq` shows.
  private func leaveOwner(_ state: TableState) {
    state.ctl.storeRelaxed(ControlLayout.writerSlot, 1000)
    state.bumpSequence()
  }

  private func isEven(_ state: TableState) -> Bool { state.data.loadRelaxed(DataLayout.wseq) & 1 == 0 }

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
}
