import Dispatch
import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// `check` is right about tables in use.
@Suite struct CheckTests {
  @Test(arguments: Table.Variant.allCases) func threadsThatComeMeanwhileRaiseNoAlarm(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let last = DispatchSemaphore(value: 0)
      let arrived = Atomic(0)
      // Each stays until the end, so that the next one needs a slot that nobody has had.
      let threads = (0..<300).map { _ in
        TestThread {
          _ = try? table.contains("k")
          arrived.add(1, ordering: .relaxed)
          last.wait()
        }
      }
      defer {
        for _ in threads { last.signal() }
        for thread in threads { thread.joinQuietly() }
      }
      var alarms: Set<String> = []
      repeat {
        alarms.formUnion(try table.check())
      } while arrived.load(ordering: .relaxed) < threads.count
      #expect(alarms == [])
    }
  }
}
