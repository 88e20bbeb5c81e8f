import Dispatch
import Glibc
import SharedTable
import Synchronization
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
        for thread in threads { thread.join() }
      }
      var alarms: Set<String> = []
      repeat {
        alarms.formUnion(try table.check())
      } while arrived.load(ordering: .relaxed) < threads.count
      #expect(alarms == [])
    }
  }
}

/// A thread, started now.
private struct TestThread: @unchecked Sendable {
  // Sendable because the handle never changes.
  private var thread = pthread_t()

  init(_ body: @escaping @Sendable () -> Void) {
    final class Box {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let started = pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
        return nil
      }, Unmanaged.passRetained(Box(body)).toOpaque())
    precondition(started == 0, "no thread: \(started)")
  }

  func join() { pthread_join(thread, nil) }
}
