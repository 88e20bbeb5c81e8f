import Testing

@testable import SharedTable
@testable import TableEngine

/// What no crash can have left is said, and not repaired by guessing.
@Suite struct JournalDamageTests {
  @Test(arguments: Table.Variant.allCases)
  func aJournalThatNoCrashCanHaveLeftMarksTheTableForGood(variant: Table.Variant) throws {
    let table = try Table.temporary(variant: variant)
    try table.set("a", 1)
    let participant = try #require(table.segment.participant)
    participant.state.journal.setVersion(table.version + 7)
    participant.state.journal.save(JournalLayout.count, 1)
    participant.state.bumpSequence()

    for _ in 0..<2 {
      let error = #expect(throws: TableError.self) { try table.set("a", 2) }
      #expect(error?.code == .damaged)
    }
    if variant == .rcu {
      #expect(try table.get("a", as: Int.self) == 1)
    } else {
      let error = #expect(throws: TableError.self) { try table.get("a", as: Int.self) }
      #expect(error?.code == .damaged)
    }
    #expect(table.statistics.isDamaged)
  }
}
