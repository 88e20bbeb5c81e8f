import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// A table that is let go leaves nothing in its process: no descriptor, no mapping, and so no memory once it is dropped.
/// Counted in processes of their own.
@Suite struct LetGoTests {
  @Test(arguments: Table.Variant.allCases)
  func aTableThatIsOpenedOverAndOverLeavesNothing(_ variant: Table.Variant) throws {
    try withTable(variant) { table in
      try table.set("n", 0)
      let worker = try WorkerProcess("table-worker")
      try worker.ask("let-go-opened \(table.name) 2000", expecting: "0 descriptors, 0 mappings")
      try worker.ask("let-go-shared \(table.name) 200", expecting: "0 descriptors, 0 mappings")
      try worker.ask("let-go-observed \(table.name) 200", expecting: "0 descriptors, 0 mappings")
      try worker.finish()
      // All slots were given back: as many as there are can be had.
      #expect(try table.check().isEmpty)
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func temporaryTablesLeaveNothing(_ variant: Table.Variant) throws {
    let worker = try WorkerProcess("table-worker")
    try worker.ask("let-go-temporary \(variant) 400", expecting: "0 descriptors, 0 mappings")
    try worker.ask("let-go-threads \(variant) 40", expecting: "ok")
    try worker.ask("let-go-temporary \(variant) 1", expecting: "0 descriptors, 0 mappings")
    try worker.finish()
  }

  @Test func slotsOfSnapshotsAndPresenceAreGivenBack() throws {
    let worker = try WorkerProcess("table-worker")
    try worker.ask("let-go-snapshots 100", expecting: "0 descriptors, 0 mappings")
    try worker.finish()
  }

  /// Only a thread itself can give back its slot: at its next table, or at its end.
  @Test(arguments: Table.Variant.allCases)
  func aThreadThatLivesOnKeepsAFewTablesAtMost(_ variant: Table.Variant) throws {
    let worker = try WorkerProcess("table-worker")
    try worker.ask("let-go-beside-a-thread \(variant) 100", expecting: "true, then 0 descriptors, 0 mappings")
    try worker.ask("let-go-in-flight \(variant) 160", expecting: "bounded")
    try worker.finish()
  }

  @Test(arguments: Table.Variant.allCases)
  func aForkedChildLetsGoToo(_ variant: Table.Variant) throws {
    let worker = try WorkerProcess("table-worker")
    try worker.ask("let-go-of-parents \(variant)", expecting: "0 descriptors, 0 mappings")
    try worker.ask("let-go-in-child \(variant) 20", expecting: "ok")
    try worker.ask("let-go-temporary \(variant) 1", expecting: "0 descriptors, 0 mappings")
    try worker.finish()
  }
}
