import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// How long asynchronous sections wait once their turn has come.
@Suite struct PatienceTests {
  /// What makes a section wait, and ends with another error than that the time is over.
  @Test func anAsynchronousBarrierWaitsForAStalledReaderAsThePolicySays() throws {
    try withTableName { name throws in
      let table = try Table.create(
        name,
        .init(variant: .rcu, capacityBytes: 8 << 20, limboBudgetBytes: 256 << 10, stalledReaderPolicy: .wait))
      try table.set("k", "old")
      let reader = try worker(table)
      _ = try reader.ask("read")
      var refused: TableError?
      for round in 0..<2000 where refused == nil {
        let value = [UInt8](repeating: 1, count: 1000)
        refused = error { try table.set("k\(round % 10)", value, timeout: .milliseconds(20)) }
      }
      #expect(refused?.code == .full)
      let queue = try BarrierQueue(in: table, label: "org.example.test")
      let item = try queue.async(flags: .barrier, timeout: .seconds(600)) { tx in try tx.set("k", "new") }
      waitUntil { queue.turnsWaiting == 1 || item.isFinished }
      try reader.ask("end", expecting: "ok")
      try item.wait(timeout: .seconds(600))
      #expect(try table.get("k") == "new")
    }
  }
}
