import Glibc
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// Threads that are stopped, or die, with a key lock that they hold or wait for (G6).
@Suite struct StoppedKeyWaiterTests {
  private func keyLocks(_ table: Table) throws -> KeyLocks { try #require(table.segment.participant).keyLocks }

  /// Waits until some thread waits for a key lock.
  private func waitUntilOneWaits(_ keyLocks: KeyLocks) {
    while !(0..<keyLocks.slots.highWater).contains(where: keyLocks.isWaiting) { sched_yield() }
  }

  @Test(arguments: Table.Variant.allCases) func aStoppedWaiterIsPutAside(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let keyLocks = try keyLocks(table)
      let (holder, waiter) = (try worker(table), try worker(table))
      try holder.ask("keyed a,b", expecting: "in")
      try waiter.send("keyed a")
      waitUntilOneWaits(keyLocks)
      // Not before: until then it may own W, which nobody takes from a stopped process.
      try waiter.waitUntilAsleep(in: .futex)
      stop(waiter)
      try holder.ask("commit", expecting: "ok")
      for _ in 0..<3 { try table.barrier(keys: ["a", "c"], timeout: .seconds(60)) { tx in try tx.set("a", 1) } }
      // There is no key lock at all now.
      try table.set("other", 1)
      #expect(!keyLocks.mayBeAny)
      waiter.kill(SIGCONT)
      try waiter.expectLine("in")
      #expect(code { try table.set("a", 1, timeout: .milliseconds(1)) } == .timedOut)
      #expect(code { try table.barrier(keys: ["a"], timeout: .milliseconds(1)) { _ in } } == .timedOut)
      try waiter.ask("commit", expecting: "ok")
      for process in [holder, waiter] { try process.finish() }
      #expect(try table.check() == [])
    }
  }

  /// A waiter whose turn has not come is not put aside, however long it takes.
  @Test func aWaiterBehindAHolderKeepsItsPlace() throws {
    try withSmallTable(.rcu) { table in
      let keyLocks = try keyLocks(table)
      let (holder, waiter) = (try worker(table), try worker(table))
      try holder.ask("keyed b", expecting: "in")
      try waiter.send("keyed a,b")
      waitUntilOneWaits(keyLocks)
      #expect(code { try table.barrier(keys: ["a"], timeout: .milliseconds(300)) { _ in } } == .timedOut)
      try holder.ask("commit", expecting: "ok")
      try waiter.expectLine("in")
      try waiter.ask("commit", expecting: "ok")
      for process in [holder, waiter] { try process.finish() }
    }
  }

  /// Only the first in line can be one that does not come: it keeps those behind it, though they live.
  @Test(arguments: [false, true]) func ofWaitersInALineTheFirstIsPutAside(stopped: Bool) throws {
    try withSmallTable(.rcu) { table in
      let keyLocks = try keyLocks(table)
      let (holder, first, second) = (try worker(table), try worker(table), try worker(table))
      try holder.ask("keyed x", expecting: "in")
      for (waiter, keys) in [(first, "x,a"), (second, "a,b")] {
        try waiter.send("keyed \(keys)")
        try waiter.waitUntilAsleep(in: .futex)
      }
      #expect((0..<keyLocks.slots.highWater).count(where: keyLocks.isWaiting) == 2)
      if stopped {
        for waiter in [first, second] { stop(waiter) }
        try holder.ask("commit", expecting: "ok")
        try table.barrier(keys: ["b"], timeout: .seconds(60)) { tx in try tx.set("b", 1) }
      } else {
        #expect(code { try table.barrier(keys: ["b"], timeout: .milliseconds(300)) { _ in } } == .timedOut)
        try holder.ask("commit", expecting: "ok")
      }
      for waiter in [first, second] {
        waiter.kill(SIGCONT)
        try waiter.expectLine("in")
        try waiter.ask("commit", expecting: "ok")
      }
      for process in [holder, first, second] { try process.finish() }
    }
  }

  /// Else all writers would go the long way until another thread takes the slot.
  @Test func aDeadHoldersKeyLockIsClearedByAWriterOfAnotherKey() throws {
    try withSmallTable(.rcu) { table in
      let keyLocks = try keyLocks(table)
      let holder = try worker(table)
      try holder.ask("keyed a", expecting: "in")
      try table.set("b", 1)
      #expect(keyLocks.mayBeAny)
      try holder.killAndWait()
      for round in 0..<2 { try table.set("b", round) }
      #expect(!keyLocks.mayBeAny)
    }
  }
}
