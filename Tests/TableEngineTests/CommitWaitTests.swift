import CShims
import Glibc
import SharedTable
import Synchronization
import TableEngine
import TableTestSupport
import TestSupport
import Testing

/// Waiting for a commit. Slices without end are where a lost wake-up would show: the wait would end by its timeout.
@Suite struct CommitWaitTests {
  @Test(arguments: Table.Variant.allCases)
  func aCommitOfAnotherProcessWakesWhoSleeps(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let writer = try worker(table)
      let segment = try Segment.open(table.name, .participant)
      for round in 0..<50 {
        let version = table.version
        let waiters = (0..<3).map { _ in
          TestThread {
            try segment.waitForCommit(
              after: version, timeoutNanoseconds: longNanoseconds, sliceNanoseconds: longNanoseconds)
          }
        }
        for waiter in waiters { waiter.waitUntilAsleep() }
        try writer.ask("set key \(round)", expecting: "ok")
        for waiter in waiters { #expect(try waiter.join(), "round \(round)") }
      }
      try writer.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func waitersMissNoCommitWhileProcessesWrite(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      try table.set("n", 0)
      let writers = try (0..<2).map { _ in try worker(table) }
      let total = 2 * 4000
      let waiters = (0..<2).map { _ in
        TestThread {
          while true {
            let version = segment.committed
            if try table.get("n", as: Int.self)! >= total { return true }
            guard
              try segment.waitForCommit(
                after: version, timeoutNanoseconds: longNanoseconds, sliceNanoseconds: longNanoseconds)
            else { return false }
          }
        }
      }
      for writer in writers { try writer.send("increment n \(total / 2)") }
      for writer in writers { try writer.expectLine("ok") }
      for waiter in waiters { #expect(try waiter.join()) }
      for writer in writers { try writer.finish() }
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func anObserverIsTold(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let observer = try worker(table, "observer")
      for round in 0..<5 {
        try observer.send("wait \(table.version)")
        try observer.waitUntilAsleep(in: .futex)
        try table.set("key", round)
        try observer.expectLine("true")
      }
      try observer.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func aCommitterKilledBeforeItsWakeUpCostsASlice(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      let version = table.version
      let waiter = TestThread {
        try segment.waitForCommit(after: version, timeoutNanoseconds: longNanoseconds)
      }
      waiter.waitUntilAsleep()
      // What it leaves: the number cleared, and nobody woken.
      segment.controlMemory!.storeRelease(ControlLayout.awaitedVersion, 0)
      try table.set("key", 1)
      #expect(try waiter.join())
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func theRepairOfAKilledBarrierWakesToo(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      let victim = try worker(table)
      try victim.ask("barrier", expecting: "in")
      try victim.ask("set key 1", expecting: "ok")
      let version = table.version
      let waiter = TestThread {
        try segment.waitForCommit(
          after: version, timeoutNanoseconds: longNanoseconds, sliceNanoseconds: longNanoseconds)
      }
      waiter.waitUntilAsleep()
      try victim.killAndWait()
      try table.administration.maintain()
      #expect(try waiter.join())
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func aKilledWaiterLeavesNothingToPayFor(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      let victim = try worker(table)
      try victim.send("wait \(table.version)")
      try victim.waitUntilAsleep(in: .futex)
      #expect(segment.controlMemory!.loadAcquire(ControlLayout.awaitedVersion) == table.version + 1)
      try victim.killAndWait()
      try table.set("key", 1)
      #expect(segment.controlMemory!.loadAcquire(ControlLayout.awaitedVersion) == 0)
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func aWaitEndsByItsTimeoutOrAtOnce(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      #expect(try !table.waitForCommit(after: table.version, timeout: .milliseconds(20)))
      #expect(try !table.waitForCommit(after: table.version, timeout: .zero))
      let version = table.version
      try table.set("key", 1)
      #expect(try table.waitForCommit(after: version, timeout: .zero))
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func inASectionOfTheTableItIsADeadlock(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let again = try Table.open(table.name)
      try table.barrier { _ in
        #expect(code { try again.waitForCommit(after: 0) } == .wouldDeadlock)
      }
      try table.read { _ in
        #expect(code { try again.waitForCommit(after: 0) } == .wouldDeadlock)
      }
      let observer = try Table.open(table.name, access: .observer)
      try observer.read { _ in
        #expect(code { try observer.waitForCommit(after: 0) } == .wouldDeadlock)
      }
      try withSmallTable(variant) { other in
        let elsewhere = try table.read { _ in try other.waitForCommit(after: 0) }
        #expect(elsewhere)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func aDropEndsTheWait(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let observer = try Table.open(table.name, access: .observer)
      let version = table.version
      let waiters = [table, observer].map { handle in
        TestThread { code { try handle.waitForCommit(after: version, timeout: .seconds(600)) } == .unlinked }
      }
      for waiter in waiters { waiter.waitUntilAsleep() }
      try Table.drop(table.name)
      for waiter in waiters { #expect(try waiter.join()) }
    }
  }

  @Test func aPrivateTableWaitsToo() throws {
    let table = try Table.temporary()
    #expect(try !table.waitForCommit(after: table.version, timeout: .milliseconds(150)))
    let version = table.version
    let waiter = TestThread { try table.waitForCommit(after: version, timeout: .seconds(600)) }
    waiter.waitUntilAsleep()
    try table.set("key", 1)
    #expect(try waiter.join())
  }

  @Test func aForkedChildIsRefused() throws {
    try withSmallTable(.rcu) { table in
      let worker = try worker(table)
      try worker.ask("fork-wait", expecting: "error forked")
      try worker.finish()
    }
  }
}
