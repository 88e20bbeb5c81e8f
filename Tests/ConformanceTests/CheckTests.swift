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
      let (next, last) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let arrived = Atomic(0)
      // Each stays until the end, so that the next one needs a slot that nobody has had.
      let threads = (0..<300).map { _ in
        TestThread {
          next.wait()
          defer { last.wait() }
          _ = try table.contains("k")
          arrived.add(1, ordering: .relaxed)
        }
      }
      defer {
        for _ in threads {
          next.signal()
          last.signal()
        }
        for thread in threads { thread.joinQuietly() }
      }
      var alarms: Set<String> = []
      // Checks in which a thread came.
      var overlapped = 0
      for count in 1...threads.count {
        next.signal()
        try #require(
          try goOn(until: { arrived.load(ordering: .relaxed) >= count }) {
            let before = arrived.load(ordering: .relaxed)
            alarms.formUnion(try table.check())
            if arrived.load(ordering: .relaxed) > before { overlapped += 1 }
          })
      }
      #expect(alarms == [])
      #expect(overlapped > 0)
      for _ in threads { last.signal() }
      for thread in threads { try thread.join() }
    }
  }
}
