import Glibc
import SharedTable
import TableEngine
import TableTestSupport
import TestSupport
import Testing

private struct Refusal: Error {}

/// G1–G5 and G11: what sections see, and what they may not do.
@Suite struct SectionTests {
  // MARK: - G1, G5

  @Test(arguments: WayIn.allCases) func aSectionSeesOneVersionWhateverIsWrittenMeanwhile(_ way: WayIn) throws {
    try Setting(variant: .rcu, way: way).with { table, _ throws in
      for index in 0..<50 { try table.set("k\(index)", "old") }
      let reader = try worker(table, "\(way)")
      let began = try reader.ask("read")
      #expect(began == "in \(table.version)")
      try reader.ask("get k0", expecting: "old")
      // Fewer writes than reclaiming waits for: an observer's snapshot would rightly be too old after it.
      for index in 0..<50 where index % 2 == 0 { try table.set("k\(index)", "new") }
      try table.barrier { tx throws in
        for index in 0..<50 where index % 2 == 1 { try tx.remove("k\(index)") }
        try tx.set("more", "new")
      }
      for index in 0..<50 { try reader.ask("get k\(index)", expecting: "old") }
      try reader.ask("get more", expecting: "nil")
      try reader.ask("count", expecting: "50")
      try reader.ask("end", expecting: "ok")
      try reader.ask("get k0", expecting: "new")
      try reader.ask("get k1", expecting: "nil")
      try reader.finish()
    }
  }

  @Test func aParticipantsSectionSurvivesReclaimingHoweverMuchIsWritten() throws {
    try withTable(.rcu) { table throws in
      for index in 0..<300 { try table.set("k\(index)", "old") }
      let reader = try worker(table)
      _ = try reader.ask("read")
      for round in 0..<5 {
        for index in 0..<300 { try table.set("k\(index)", "new \(round)") }
        for index in 0..<300 where index % 3 == 0 { try table.remove("k\(index)") }
        try table.administration.maintain()
      }
      for index in 0..<300 { try reader.ask("get k\(index)", expecting: "old") }
      try reader.ask("count", expecting: "300")
      try reader.ask("end", expecting: "ok")
      try reader.finish()
    }
  }

  @Test func aScanSurvivesTheEndOfTheSubTableItIsIn() throws {
    try withTable(.rcu) { table throws in
      for index in 0..<500 { try table.set("old\(index)", index) }
      let writer = try worker(table)
      try table.read { view throws in
        var visited = 0
        try view.forEach { _, entry in
          if visited == 0 {
            // The sub-table under the scan is split, and its memory wanted for something else.
            for part in 0..<8 {
              try writer.ask("barrier", expecting: "in")
              try writer.ask("fill \(part)- 1000", expecting: "ok")
              try writer.ask("commit", expecting: "ok")
              _ = try writer.ask("maintain")
            }
          }
          #expect(entry.value(as: Int.self) != nil)
          visited += 1
        }
        #expect(visited == 500)
      }
      #expect(table.count == 8500)
    }
  }

  @Test func readersGoOnWhileABarrierIsOpen() throws {
    try withTable(.rcu) { table throws in
      try table.set("k", "old")
      let writer = try worker(table)
      try writer.ask("barrier", expecting: "in")
      try writer.ask("set k new", expecting: "ok")
      try writer.ask("fill other 3000", expecting: "ok")
      try writer.ask("remove k", expecting: "ok")
      #expect(try table.get("k") == "old")
      #expect(table.count == 1)
      try table.read { view throws in
        #expect(try view.get("k") == "old")
        #expect(try view.count() == 1)
      }
      let snapshot = try table.snapshot()
      try writer.ask("commit", expecting: "ok")
      #expect(try table.get("k", as: String.self) == nil)
      #expect(try snapshot.get("k") == "old")
      #expect(table.count == 3000)
    }
  }

  @Test func inTheRWLockVariantReadersAndTheBarrierExcludeEachOther() throws {
    try withTable(.rwlock) { table throws in
      try table.set("k", "old")
      let writer = try worker(table)
      try writer.ask("barrier", expecting: "in")
      try writer.ask("set k new", expecting: "ok")
      let waited = error { try table.read(timeout: .milliseconds(100)) { _ in } }
      #expect(waited?.code == .timedOut)
      #expect(waited?.holder?.pid == writer.pid)
      let observer = try Table.open(table.name, access: .observer, timeout: .milliseconds(50))
      #expect(code { _ = try observer.get("k", as: String.self) } == .busy)
      try writer.ask("commit", expecting: "ok")
      #expect(try table.get("k") == "new")

      let reader = try worker(table)
      _ = try reader.ask("read")
      let refused = error { try table.set("k", "newer", timeout: .milliseconds(100)) }
      #expect(refused?.code == .timedOut)
      #expect(refused?.holder?.pid == reader.pid)
      try reader.ask("get k", expecting: "new")
      try reader.ask("end", expecting: "ok")
      try table.set("k", "newer")
      try reader.ask("get k", expecting: "newer")
    }
  }

  // MARK: - G2, G3, G4

  @Test(arguments: Setting.all) func aBarrierThatThrowsLeavesNothing(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      for index in 0..<3000 { try table.set("k\(index)", index) }
      #expect(throws: Refusal.self) {
        try table.barrier { tx throws in
          for index in 0..<3000 where index % 2 == 0 { try tx.set("k\(index)", -1) }
          for index in 0..<3000 where index % 3 == 0 { try tx.remove("k\(index)") }
          for index in 0..<6000 { try tx.set("new\(index)", index) }
          try tx.set("k1", [UInt8](repeating: 1, count: 100_000))
          throw Refusal()
        }
      }
      #expect(reader.count == 3000)
      for index in 0..<3000 { #expect(try reader.get("k\(index)") == index) }
      #expect(try reader.get("new1", as: Int.self) == nil)
      #expect(try table.check() == [])
    }
  }

  @Test(arguments: Setting.all) func abortsBetweenCommitsChangeNothing(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      for round in 0..<500 {
        try table.set("k", round)
        _ = try? table.barrier { tx throws in
          try tx.set("k", -1)
          try tx.set("k", -2)
          try tx.remove("k")
          if round % 2 == 0 { try tx.set("k", -3) }
          throw Refusal()
        }
        #expect(try reader.get("k") == round)
      }
      #expect(reader.count == 1)
    }
  }

  @Test(arguments: Setting.all) func aBarrierSeesItsOwnChangesAndOthersSeeThemAllAtOnce(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      try table.set("a", 1)
      try table.barrier { tx throws in
        try tx.set("a", 2)
        try tx.set("b", 3)
        #expect(try tx.get("a") == 2)
        try tx.set("a", 4)
        #expect(try tx.get("a") == 4)
        #expect(try tx.remove("b"))
        #expect(try !tx.remove("b"))
        #expect(try tx.get("b", as: Int.self) == nil)
        #expect(try tx.keys() == [Array("a".utf8)])
      }
      #expect(try reader.get("a") == 4)
      #expect(try reader.get("b", as: Int.self) == nil)
    }
  }

  @Test(arguments: Table.Variant.allCases) func noIncrementOfSeveralProcessesIsLost(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let workers = try (0..<3).map { _ in try worker(table) }
      for worker in workers { try worker.send("increment n 2000") }
      for worker in workers { try worker.expectLine("ok") }
      #expect(try table.get("n") == 6000)
    }
  }

  @Test(arguments: Setting.all) func whoComesAfterABarrierReturnedSeesIt(_ setting: Setting) throws {
    try setting.with { table, _ throws in
      let reader = try worker(table, "\(setting.way)")
      let writer = try worker(table)
      for round in 0..<200 {
        if round % 2 == 0 {
          try writer.ask("set k \(round)", expecting: "ok")
        } else {
          try table.set("k", "\(round)")
        }
        try reader.ask("get k", expecting: "\(round)")
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func aBarrierWaitsForTheRunningOneAndItsTimeoutNamesIt(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let holder = try worker(table)
      let waiter = try worker(table)
      try holder.ask("barrier", expecting: "in")
      #expect(try waiter.ask("barrier 50") == "error timedOut holder \(holder.pid)")
      let own = error { try table.set("k", 1, timeout: .milliseconds(50)) }
      #expect(own?.code == .timedOut)
      #expect(own?.holder?.pid == holder.pid)
      #expect(own.map { "\($0)".contains("table-worker") } == true)
      try waiter.send("barrier")
      try holder.ask("set k first", expecting: "ok")
      try holder.ask("commit", expecting: "ok")
      try waiter.expectLine("in")
      try waiter.ask("get k", expecting: "first")
      try waiter.ask("abort", expecting: "aborted")
    }
  }

  // MARK: - G11

  @Test(arguments: Table.Variant.allCases) func sectionsThatWouldDeadlockAreErrorsAtOnce(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { made throws in
      try made.set("k", 1)
      let table = try Table.open(made.name, access: .participant, timeout: .seconds(2))
      let other = try Table.open(made.name, access: .participant, timeout: .seconds(2))
      for second in [table, other] {
        try table.read { _ throws in
          #expect(code { try second.barrier { _ in } } == .wouldDeadlock)
          #expect(code { try second.set("k", 2) } == .wouldDeadlock)
          #expect(code { try second.remove("k") } == .wouldDeadlock)
          #expect(code { try second.administration.maintain() } == .wouldDeadlock)
        }
        try table.barrier { tx throws in
          #expect(code { try second.read { _ in } } == .wouldDeadlock)
          #expect(code { _ = try second.get("k", as: Int.self) } == .wouldDeadlock)
          #expect(code { try second.barrier { _ in } } == .wouldDeadlock)
          #expect(code { try second.set("k", 2) } == .wouldDeadlock)
          #expect(code { _ = try second.check() } == .wouldDeadlock)
          #expect(try tx.get("k") == 1)
        }
      }
      #expect(try table.get("k") == 1)
      try table.set("k", 3)
    }
  }

  @Test func anObserverDoesNotWaitForABarrierOfItsOwnThread() throws {
    try withTable(.rwlock) { table throws in
      try table.set("k", 1)
      let observer = try Table.open(table.name, access: .observer, timeout: .seconds(600))
      try table.barrier { tx throws in
        #expect(code { _ = try observer.get("k", as: Int.self) } == .wouldDeadlock)
        #expect(code { try observer.read { _ in } } == .wouldDeadlock)
        #expect(code { _ = try observer.waitForCommit(after: observer.version) } == .wouldDeadlock)
      }
      try table.barrier(keys: ["k"]) { tx throws in
        try tx.set("k", 2)
        #expect(try observer.get("k") == 1)
      }
      #expect(try observer.get("k") == 2)
    }
  }

  /// A closure that changes one value, or one collection, runs in a barrier of that part alone, and owns the writer lock as well.
  @Test(arguments: Table.Variant.allCases, PartBarrier.allCases)
  func anObserverDoesNotWaitForABarrierOfAPartOfItsOwnThread(_ variant: Table.Variant, _ barrier: PartBarrier) throws {
    try withTable(variant) { table throws in
      let observer = try Table.open(table.name, access: .observer, timeout: .seconds(600))
      try barrier.run(in: table) {
        if variant == .rwlock { #expect(code { _ = try observer.get("k", as: Int.self) } == .wouldDeadlock) }
        #expect(code { _ = try observer.waitForCommit(after: observer.version) } == .wouldDeadlock)
      }
      #expect(try observer.waitForCommit(after: observer.version - 1))
    }
  }

  /// In the rwlock variant a read section keeps every barrier out; in the rcu variant others commit beside it.
  @Test func anObserverDoesNotWaitForACommitThatAReadSectionOfItsOwnThreadKeepsOut() throws {
    try withTable(.rwlock) { table throws in
      let observer = try Table.open(table.name, access: .observer, timeout: .seconds(600))
      try table.read { _ throws in
        #expect(code { _ = try observer.waitForCommit(after: observer.version) } == .wouldDeadlock)
        #expect(try observer.waitForCommit(after: observer.version - 1))
      }
    }
    try withTable(.rcu) { table throws in
      let writer = try worker(table)
      let observer = try Table.open(table.name, access: .observer, timeout: .seconds(600))
      try table.read { _ throws in
        let seen = observer.version
        try writer.ask("set k 2", expecting: "ok")
        #expect(try observer.waitForCommit(after: seen))
      }
    }
  }

  enum PartBarrier: CaseIterable {
    case value, dictionary, accessor

    func run(in table: Table, _ body: @escaping @Sendable () -> Void) throws {
      switch self {
      case .value: try SharedValue("n", in: table, default: 0).mutate { _ in body() }
      case .dictionary:
        try SharedDictionary<String, Int>("d", in: table).mutate("k", default: 0) { _ in body() }
      case .accessor:
        let increment = Guarded("g", in: table, default: 0).accessor { (count: inout Int) in
          count += 1
          body()
        }
        try increment.accessSync()
      }
    }
  }

  @Test func inTheRCUVariantAnObserverSeesWhatWasBeforeABarrierOfItsOwnThread() throws {
    try withTable(.rcu) { table throws in
      try table.set("k", 1)
      let observer = try Table.open(table.name, access: .observer, timeout: .seconds(600))
      try table.barrier { tx throws in
        try tx.set("k", 2)
        #expect(try observer.get("k") == 1)
        #expect(code { _ = try observer.waitForCommit(after: observer.version) } == .wouldDeadlock)
      }
      #expect(try observer.get("k") == 2)
    }
  }

  /// A participant's: an observer's handles are tables of their own; see below.
  @Test(arguments: Table.Variant.allCases) func aReadInAReadJoinsItsSnapshot(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.set("k", "1")
      let writer = try worker(table)
      let again = try Table.open(table.name, access: .participant, timeout: .seconds(600))
      try table.read { outer throws in
        if variant == .rcu {
          try writer.ask("set k 2", expecting: "ok")
        } else {
          #expect(try writer.ask("set k 2 50").hasPrefix("error timedOut"))
          try writer.send("set k 2")  // waits; the nested read must not wait for it
          let control = table.segment.controlMemory!
          try #require(eventually { control.loadAcquire(RWLayout.writerWaiting) != 0 })
        }
        try again.read { inner throws in
          #expect(inner.version == outer.version)
          #expect(try inner.get("k") == "1")
        }
        #expect(try again.get("k") == "1")
        #expect(try outer.get("k") == "1")
      }
      if variant == .rwlock { try writer.expectLine("ok") }
      #expect(try table.get("k") == "2")
    }
  }

  @Test(arguments: Table.Variant.allCases) func anObserversNestedReadJoinsItsSnapshot(_ variant: Table.Variant) throws {
    try Setting(variant: variant, way: .observer).with { table, reader throws in
      try table.set("k", "1")
      let writer = try worker(table)
      try reader.read { outer throws in
        try reader.read { inner throws in #expect(inner.version == outer.version) }
        try writer.ask("set k 2", expecting: "ok")
        if variant == .rcu {
          #expect(try reader.get("k") == "1")
          #expect(try outer.get("k") == "1")
        } else {
          #expect(code { _ = try outer.get("k", as: String.self) } == .snapshotTooOld)
        }
      }
      #expect(try reader.get("k") == "2")
    }
  }

  // MARK: - Snapshots

  @Test func aSnapshotOutlivesSectionsAndThreads() throws {
    try withTable(.rcu) { table throws in
      try table.set("k", "v0")
      var snapshots: [(Snapshot, String)] = []
      for round in 1...20 {
        snapshots.append((try table.snapshot(), "v\(round - 1)"))
        for _ in 0..<30 { try table.set("k", "between") }
        if round % 5 == 0 { try table.remove("k") }
        try table.set("k", "v\(round)")
        try table.administration.maintain()
        #expect(try table.check() == [])
      }
      for (snapshot, value) in snapshots { #expect(try snapshot.get("k") == value) }
      let middle = snapshots[10]
      snapshots.removeAll()
      try table.administration.maintain()
      #expect(try middle.0.get("k") == middle.1)
      #expect(try table.get("k") == "v20")
    }
  }

  @Test func aSnapshotHidesAKeyThatCameLaterAndShowsOneThatWent() throws {
    try withTable(.rcu) { table throws in
      try table.set("gone", 1)
      let snapshot = try table.snapshot()
      try table.remove("gone")
      try table.set("come", 1)
      for _ in 0..<3 { try table.administration.maintain() }
      #expect(try snapshot.read { view in try view.keys() } == [Array("gone".utf8)])
      #expect(try snapshot.get("come", as: Int.self) == nil)
      #expect(try table.read { view in try view.keys() } == [Array("come".utf8)])
    }
  }

  @Test func aSnapshotInsideAnotherSectionIsAnErrorUnlessOfTheSameVersion() throws {
    try withTable(.rcu) { table throws in
      try table.set("k", 1)
      let old = try table.snapshot()
      try table.set("k", 2)
      try table.read { _ in #expect(code { _ = try old.get("k", as: Int.self) } == .wouldDeadlock) }
      try table.barrier { _ in #expect(code { _ = try old.get("k", as: Int.self) } == .wouldDeadlock) }
      #expect(try old.get("k") == 1)
    }
  }

  @Test func whereThereAreNoSnapshotsTheErrorSaysSo() throws {
    try withTable(.rwlock) { table in
      let refusal = try #require(error { _ = try table.snapshot() })
      #expect(refusal.code == .unsupported)
      #expect(refusal.message.hasSuffix("is not supported; read in one read section, or make the table as rcu"))
    }
    try Setting(variant: .rcu, way: .observer).with { _, observer throws in
      let refusal = try #require(error { _ = try observer.snapshot() })
      #expect(refusal.code == .unsupported, "\(refusal)")
      #expect(refusal.message.hasSuffix("is not supported; read in one read section, or open the table to take part"))
    }
  }
}
