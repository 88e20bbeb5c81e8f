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

  /// Recovery would free a neighbour of what lies between two blocks, and trap at a run of no frames.
  @Test func aRecordNamesABlockThatCanBe() throws {
    let table = try Table.temporary()
    try table.set("a", 1)
    let state = try #require(table.segment.participant).state
    let (begin, code) = (state.geometry.unitsOffset, SizeClasses.code(byteCount: 64))
    let run = SizeClasses.runCode
    for (offset, code, canBe) in [
      (begin, code, true), (begin + 64, code, true), (begin + 16, code, false), (begin, run, false),
      (begin, run + 1, true),
      (begin + 64, run + 1, false),
    ] {
      Transaction(state: state).begin()
      state.journal.append(.allocate, value: BlockRef(offset: offset, code: code).raw)
      #expect(JournalCheck(state: state).isRecoverable == canBe, "\(offset - begin), \(code)")
      state.journal.clear()
    }
  }
}
