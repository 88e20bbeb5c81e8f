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

  /// Under the other policies, too, a write waits for a reader that is not stalled yet. A round that took as long as a reader may take counts only
  /// if the write waited all the same.
  @Test(arguments: [Table.StalledReaderPolicy.evict, .refuse])
  func anAsynchronousBarrierWaitsForAReaderThatIsNotStalledYet(_ policy: Table.StalledReaderPolicy) throws {
    try withTableName { name throws in
      let table = try Table.create(
        name,
        .init(variant: .rcu, capacityBytes: 8 << 20, limboBudgetBytes: 256 << 10, stalledReaderPolicy: policy))
      let reader = try worker(table)
      let queue = try BarrierQueue(in: table, label: "org.example.test")
      let value = [UInt8](repeating: 1, count: 1000)
      var waited = 0
      for round in 0..<60 where waited < 10 {
        let begin = ContinuousClock.now
        _ = try reader.ask("read")
        while error({ try table.set("k", value, timeout: .zero) }) == nil {}
        let item = try queue.async(flags: .barrier, timeout: .seconds(600)) { tx in try tx.set("n", round) }
        waitUntil { queue.turnsWaiting == 1 || item.isFinished }
        let isTooLate = begin.duration(to: .now) >= .milliseconds(200)
        try reader.ask("end", expecting: "ok")
        let failure = error { try item.wait(timeout: .seconds(600)) }
        if let failure, isTooLate, failure.code == .full { continue }
        #expect(failure == nil)
        #expect(try table.get("n") == round)
        waited += 1
      }
      if waited == 0 { print("not shown: on this machine every reader was stalled before a write could wait for it") }
    }
  }
}
