import Glibc
import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// G6: a process that is killed or stopped leaves the table to the others, and nothing of what it had not committed.
@Suite struct DeathTests {
  @Test(arguments: Table.Variant.allCases) func aWriterKilledInItsBarrierLeavesNothing(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      for index in 0..<500 { try table.set("k\(index)", "old") }
      let other = try worker(table)
      for round in 0..<3 {
        let writer = try worker(table)
        try writer.ask("barrier", expecting: "in")
        try writer.ask("set k0 new", expecting: "ok")
        try writer.ask("set k0 newer", expecting: "ok")
        try writer.ask("remove k1", expecting: "ok")
        try writer.ask("fill k 400", expecting: "ok")
        try writer.ask("fill more 3000", expecting: "ok")  // splits
        try writer.killAndWait()
        switch round {
        case 0: try other.ask("get k0", expecting: "old")
        case 1: try other.ask("set first \(round)", expecting: "ok")
        default: try table.administration.maintain()
        }
        for index in 0..<500 { #expect(try table.get("k\(index)") == "old") }
        #expect(try table.get("more1", as: Int.self) == nil)
        #expect(try table.read { view in try view.count() } == table.count)
        #expect(try table.check() == [])
      }
      try other.ask("set k0 next", expecting: "ok")
      #expect(try table.get("k0") == "next")
    }
  }

  @Test(arguments: Table.Variant.allCases) func aReaderKilledInItsSectionKeepsNothing(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.set("k", "old")
      for _ in 0..<10 {
        let reader = try worker(table)
        _ = try reader.ask("read")
        try reader.ask("get k", expecting: "old")
        try reader.killAndWait()
        try table.set("k", "old")
      }
      for index in 0..<3000 { try table.set("k\(index % 100)", index) }
      while try table.administration.maintain() == true {}
      #expect((table.segment.statistics.limboBytes ?? 0) < 64 << 10, "the dead keep nothing from being reused")
    }
  }

  @Test func aProcessKilledWithItsSnapshotKeepsNothing() throws {
    try withTable(.rcu) { table throws in
      for index in 0..<1000 { try table.set("k\(index)", "old") }
      let holder = try worker(table)
      _ = try holder.ask("snapshot")
      for index in 0..<3000 { try table.set("k\(index % 1000)", "new") }
      try holder.ask("snapshot-get k7", expecting: "old")
      #expect((table.segment.statistics.limboBytes ?? 0) > 30_000)
      try holder.killAndWait()
      while try table.administration.maintain() == true {}
      #expect((table.segment.statistics.limboBytes ?? 0) < 10_000)
    }
  }

  @Test func aStoppedWriterStopsNoReaderAndIsNamedToWriters() throws {
    try withTable(.rcu) { table throws in
      try table.set("k", "old")
      let writer = try worker(table)
      try writer.ask("barrier", expecting: "in")
      try writer.ask("set k new", expecting: "ok")
      try writer.ask("fill more 2000", expecting: "ok")
      stop(writer)
      #expect(try table.get("k") == "old")
      #expect(try table.read { view in try view.count() } == 1)
      #expect(try table.snapshot().get("k") == "old")
      let reader = try worker(table)
      try reader.ask("get k", expecting: "old")
      do throws(TableError) {
        try table.set("k", "mine", timeout: .milliseconds(50))
        Issue.record("a barrier ran beside another")
      } catch {
        #expect(error.code == .timedOut)
        #expect(error.holder?.pid == writer.pid)
      }
      try reader.ask("set k mine 50", expecting: "error timedOut holder \(writer.pid)")
      writer.kill(SIGCONT)
      try writer.ask("commit", expecting: "ok")
      #expect(try table.get("k") == "new")
    }
  }

  @Test func aStoppedReaderStopsNoWriterWithinTheBudget() throws {
    try withTable(.rcu) { table throws in
      try table.set("k", "old")
      let reader = try worker(table)
      _ = try reader.ask("read")
      stop(reader)
      for round in 0..<2000 { try table.set("k", "\(round)") }
      reader.kill(SIGCONT)
      try reader.ask("get k", expecting: "old")
      try reader.ask("end", expecting: "ok")
      try reader.ask("get k", expecting: "1999")
    }
  }

  @Test func aDeadReaderOfTheRWLockVariantStopsNoWriter() throws {
    try withTable(.rwlock) { table throws in
      try table.set("k", "old")
      // More deaths than there are instances of the lock.
      for round in 0..<20 {
        let reader = try worker(table)
        _ = try reader.ask("read")
        if round % 2 == 0 { try reader.killAndWait() }
        if round % 2 == 1 {
          try reader.ask("end", expecting: "ok")
          try reader.ask("barrier", expecting: "in")
          try reader.ask("set k new", expecting: "ok")
          try reader.killAndWait()
        }
        #expect(try table.get("k") == "old")
        try table.set("k", "old")
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func awaitingABarrierSurvivesTheDeathOfWhoRunsIt(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      try table.set("k", "old")
      let holder = try worker(table)
      let waiters = try (0..<3).map { _ in try worker(table) }
      try holder.ask("barrier", expecting: "in")
      try holder.ask("set k new", expecting: "ok")
      for waiter in waiters { try waiter.send("increment n 100") }
      for waiter in waiters { try waiter.waitUntilAsleep(in: .futex) }
      try holder.killAndWait()
      for waiter in waiters { try waiter.expectLine("ok") }
      #expect(try table.get("n") == 300)
      #expect(try table.get("k") == "old")
    }
  }

  @Test(arguments: Table.Variant.allCases) func aWaiterThatIsKilledIsForgotten(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let holder = try worker(table)
      try holder.ask("barrier", expecting: "in")
      let waiter = try worker(table)
      try waiter.send("set k 1")
      try waiter.waitUntilAsleep(in: .futex)
      try waiter.killAndWait()
      try holder.ask("set k 2", expecting: "ok")
      try holder.ask("commit", expecting: "ok")
      #expect(try table.get("k") == "2")
      try table.set("k", "3")
    }
  }

  // MARK: - fork

  @Test(arguments: Table.Variant.allCases) func afterForkHandlesRefuseUntilReopened(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.set("k", "v")
      let parent = try worker(table)
      try parent.ask("get k", expecting: "v")
      try parent.ask("fork-get k", expecting: "error forked")
      try parent.ask("fork-set k w", expecting: "error forked")
      // The children took no slot of the table by the handle: it would be a dead thread's now.
      #expect(try table.administration.clearDeadReaders().map(\.pid) == [])
      try parent.ask("fork-reopen c", expecting: "child")
      try parent.ask("get k", expecting: "v")
      try parent.ask("get c", expecting: "child")
    }
  }

  /// The child has a copy of every descriptor of its parent, and lives on.
  @Test func aChildOfAKilledCreatorDoesNotKeepTheNameFromOthers() throws {
    try withTableName { name throws in
      let creator = try WorkerProcess("table-worker")
      try creator.ask("fork-beside-creation \(name)", expecting: "forked")
      #expect(code { _ = try Table.create(name, .init(capacityBytes: 2 << 20)) } == .exists)
      try creator.killAndWait()
      let table = try Table.create(name, .init(capacityBytes: 2 << 20))
      try worker(table).ask("set k v", expecting: "ok")
      // Its end is the end of the child's input.
      withExtendedLifetime(creator) {}
    }
  }

  @Test(arguments: Table.Variant.allCases) func afterForkAnObserverRefusesUntilReopened(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      try table.set("k", "v")
      let parent = try WorkerProcess("table-worker")
      try parent.ask("open \(table.name) observer", expecting: "ok")
      // From the second on, reads take the quick path.
      for _ in 0..<3 { try parent.ask("get k", expecting: "v") }
      try parent.ask("fork-get k", expecting: "error forked")
      try parent.ask("get k", expecting: "v")
    }
  }

  /// Other threads of the parent read the property all the time: some of the children are forked while one has its memory locked.
  @Test func afterForkAPropertyIsTheDefaultAndSaysWhy() throws {
    try withTable(.rcu) { table throws in
      try table.set("hits", 8)
      try worker(table).ask("fork-property 300", expecting: "ok")
    }
  }

  /// The announcement that keeps memory from reuse is the parent's, and ends with the parent's section.
  @Test(arguments: Table.Variant.allCases) func aChildForkedInAReadSectionReadsNothing(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      try table.set("k", 7)
      try SharedDictionary<String, Int>("dictionary", in: table).set("one", 1)
      try worker(table).ask("read-fork-section k", expecting: "child error forked, parent 7")
      try worker(table, "observer").ask("read-fork-section k", expecting: "child error forked, parent 7")
    }
  }

  /// The end of the child's read must not end the parent's.
  @Test func aChildForkedInAValuesInitialiserLeavesTheParentItsMemory() throws {
    try withPoisonedTable(Table.Options(capacityBytes: 16 << 20, limboBudgetBytes: 8 << 20)) { _, table throws in
      try table.set("k", [UInt8](repeating: 1, count: 200))
      let parent = try worker(table)
      try parent.ask("read-fork-decoding k", expecting: "in")
      for _ in 0..<5_000 { try table.set("k", [UInt8](repeating: 2, count: 200)) }
      while try table.administration.maintain() == true {}
      try parent.ask("go on", expecting: "same")
    }
  }

  @Test(arguments: Table.Variant.allCases) func aChildForkedInABarrierCannotWriteIntoIt(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let parent = try worker(table)
      try parent.ask("barrier", expecting: "in")
      try parent.ask("set k parent", expecting: "ok")
      try parent.ask("fork-set-inside k child", expecting: "error forked")
      try parent.ask("commit", expecting: "ok")
      #expect(try table.get("k") == "parent")
    }
  }
}
