import SharedTable
import TableMetrics
import TableStore
import TestSupport
import Testing

@testable import ShmdCore

/// What monitoring makes of a table's commits.
@Suite struct FillHistoryTests {
  private static func sample(_ table: Table) -> TableSample {
    TableSample(
      figures: TableFigures(table), trouble: nil, refusals: [], durability: .none, durableVersion: nil, changes: [])
  }

  /// Where looking takes long, a minute may lie between two points.
  @Test func commitsAreCountedBySecondsAndNotByPoints() throws {
    try withTableName { name in
      let table = try Table.create(name)
      var history = FillHistory()
      history.add([Self.sample(table)], at: 10_000_000_000)
      for number in 0..<600 { try table.set("k", number) }
      history.add([Self.sample(table)], at: 70_000_000_000)
      #expect(history.commitRate(of: name) == 10)
      #expect(history.secondsPerPoint(of: name) == 60)
      #expect(StatusCard(Self.sample(table), nil, history).html.contains("<span>5 min ago</span>"))
      history.add([Self.sample(table)], at: 670_000_000_000)
      #expect(history.secondsPerPoint(of: name) == 330)
      #expect(StatusCard(Self.sample(table), nil, history).html.contains("<span>11 min ago</span>"))
    }
  }

  /// Its versions are above all that the table before had: no commits made them so.
  @Test func aTableThatComesBackFromItsStoreHasMadeNoCommits() throws {
    try withTableName { name in
      let stores = StoreDirectory("/tmp/\(name)")
      defer { _ = try? WorkerProcess.run("/bin/rm", ["-r", stores.path], timeoutSeconds: 60) }
      let table = try Table.create(name)
      let keeper = try StoreKeeper(table, .everyBarrier, in: stores) { _ in }
      try table.set("k", 1)
      #expect(eventually { table.durableVersion >= table.version })
      keeper.stopAndWait()
      var history = FillHistory()
      history.add([Self.sample(table)], at: 10_000_000_000)
      try Table.drop(name)
      let back = try #require(try Table.restore(name, from: stores))
      history.add([Self.sample(back)], at: 12_000_000_000)
      #expect(history.commitRate(of: name) < 100)
      #expect(back.version > 1 << 40)
      let card = StatusCard(Self.sample(back), nil, history).html
      #expect(!card.contains("099,511,627"), "\(card)")
    }
  }
}
