import SharedTable
import TableMetrics
import TableStore
import TestSupport
import Testing

@testable import ShmdCore

/// What monitoring makes of a table's commits.
@Suite struct FillHistoryTests {
  /// Its versions are above all that the table before had: no commits made them so.
  @Test func aTableThatComesBackFromItsStoreHasMadeNoCommits() throws {
    try withTableName { name in
      func sample(_ table: Table) -> TableSample {
        TableSample(
          figures: TableFigures(table), trouble: nil, refusals: [], durability: .none, durableVersion: nil, changes: [])
      }
      let stores = StoreDirectory("/tmp/\(name)")
      defer { _ = try? WorkerProcess.run("/bin/rm", ["-r", stores.path], timeoutSeconds: 60) }
      let table = try Table.create(name)
      let keeper = try StoreKeeper(table, .everyBarrier, in: stores) { _ in }
      try table.set("k", 1)
      #expect(eventually { table.durableVersion >= table.version })
      keeper.stopAndWait()
      var history = FillHistory()
      history.add([sample(table)], at: 10_000_000_000)
      try Table.drop(name)
      let back = try #require(try Table.restore(name, from: stores))
      history.add([sample(back)], at: 12_000_000_000)
      #expect(history.commitRate(of: name) < 100)
      #expect(back.version > 1 << 40)
      let card = StatusCard(sample(back), nil, history).html
      #expect(!card.contains("099,511,627"), "\(card)")
    }
  }
}
