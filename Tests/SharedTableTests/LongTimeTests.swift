import SharedTable
import TableTestSupport
import Testing

/// Times that a program has added up, of more seconds than an `Int64` holds.
@Suite struct LongTimeTests {
  @Test(arguments: [Duration.seconds(Int64.max) + .seconds(1), .seconds(Int64.max) * 10])
  func aTimeLongerThanAnyIsForEver(_ time: Duration) throws {
    try withTable(.rcu) { table throws in
      try table.set("key", 1, expires: .after(time), timeout: time)
      #expect(try table.get("key") == 1)
      #expect(try table.waitForCommit(after: 0, timeout: time))
      #expect(try Table.open(table.name, timeout: time).get("key") == 1)
    }
  }

  @Test(arguments: [Duration.seconds(Int64.min) - .seconds(1), .seconds(Int64.min) * 10])
  func aTimeShorterThanAnyIsNone(_ time: Duration) throws {
    let clock = TestClock()
    try withTable(.rcu, clock: clock) { table throws in
      try table.set("key", 1, expires: .after(time), timeout: time)
      clock.advance(1)
      #expect(try table.get("key", as: Int.self) == nil)
      #expect(try !table.waitForCommit(after: table.version, timeout: time))
    }
  }
}
