import Dispatch
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A reader of the rwlock variant that is stopped while it waits holds up one write, and no second one (G6).
@Suite struct StoppedWaiterTests {
  /// Threads that hold a slot each and do nothing: what a stopped reader looks like to a writer.
  private func withIdleThreads(
    _ count: Int, _ body: (Table, Segment.Participant, _ stamps: [Int]) throws -> Void
  ) throws {
    let table = try Table.temporary(variant: .rwlock)
    try table.set("key", 0)
    try table.set("key", 1)
    let participant = try #require(table.segment.participant)
    let first = participant.slots.highWater
    let end = DispatchSemaphore(value: 0)
    let ready = DispatchSemaphore(value: 0)
    let threads = (0..<count).map { _ in
      TestThread {
        _ = try table.get("key", as: Int.self)
        ready.signal()
        end.wait()
      }
    }
    for _ in threads { ready.wait() }
    let stamps = (first..<participant.slots.highWater).map { participant.slots.offset($0) + SlotLayout.wait }
    #expect(stamps.count == count)
    try body(table, participant, stamps)
    for _ in threads { end.signal() }
    for thread in threads { try thread.join() }
  }

  /// The helper: a test that goes on without its stopped process would pass without a look.
  @Test func whoHasEndedIsNotStopped() throws {
    let process = try WorkerProcess("/bin/true")
    try process.wait()
    withKnownIssue { stop(process) }
  }

  @Test func isWaitedForOnce() throws {
    try withIdleThreads(3) { table, participant, stamps in
      for stamp in stamps { participant.ctl.storeRelease(stamp, 1) }
      for round in 0..<5 {
        participant.ctl.storeRelease(RWLayout.hint, 1)
        try table.set("key", round)
        #expect(participant.state.work.readersGivenUp == stamps.count)
      }
      // Another wait of the same thread is waited for again.
      participant.ctl.storeRelease(stamps[0], 2)
      participant.ctl.storeRelease(RWLayout.hint, 1)
      try table.set("key", 1)
      try table.set("key", 2)
      #expect(participant.state.work.readersGivenUp == stamps.count + 1)
      for stamp in stamps { participant.ctl.storeRelease(stamp, 0) }
    }
  }

  @Test func mayStillGoFirst() throws {
    try withIdleThreads(1) { table, participant, stamps in
      participant.ctl.storeRelease(stamps[0], 1)
      participant.ctl.storeRelease(RWLayout.hint, 1)
      try table.set("key", 1)
      let slot = participant.slots.highWater - 1
      #expect(participant.exclusion.gate.waitedThroughBarrier(slot))
      participant.ctl.storeRelease(stamps[0], 0)
    }
  }
}
