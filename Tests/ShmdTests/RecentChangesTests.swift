import SharedTable
import Testing

@testable import ShmdCore

/// The newest changes of a table, as the status page shows them.
@Suite struct RecentChangesTests {
  @Test func ofBarriersOfManyKeysTheyAreTheNewest() throws {
    let table = try Table.temporary()
    for barrier in 0..<30 {
      try table.barrier { tx in for key in 0..<10 { try tx.set("\(barrier).\(key)", 1) } }
    }
    let newest = TableKeeper.recentChanges(of: table).map { $0.keyText }
    #expect(newest == (0..<10).reversed().map { "29.\($0)" } + ["28.9", "28.8"])
  }

  @Test func aBarrierOfVeryManyDoesNotHideTheOnesBehindIt() throws {
    let table = try Table.temporary(capacityBytes: 8 << 20)
    func setMany() throws { try table.barrier { tx in for key in 0..<5000 { try tx.set("many.\(key)", 1) } } }
    try setMany()
    #expect(TableKeeper.recentChanges(of: table).count == TableKeeper.changeCount)
    try table.set("one", 1)
    #expect(TableKeeper.recentChanges(of: table).map { $0.keyText } == ["one"])
    for index in 0..<20 { try table.set("few.\(index)", 1) }
    #expect(TableKeeper.recentChanges(of: table).map { $0.keyText } == (8..<20).reversed().map { "few.\($0)" })
  }
}
