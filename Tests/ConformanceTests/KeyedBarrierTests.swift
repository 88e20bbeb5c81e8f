import Glibc
import SharedTable
import TableEngine
import TableTestSupport
import TestSupport
import Testing

private struct Refusal: Error {}

/// Barriers of some keys: each is all or nothing, and they exclude those that share a key, and no others.
@Suite struct KeyedBarrierTests {
  // MARK: - What it shows and takes

  @Test(arguments: Setting.all) func itShowsItsOwnChangesAndCommitsThemAllAtOnce(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      try table.set("a", "old")
      try table.set("a/removed", "old")
      try table.set("a/left", "old")
      let version = table.version
      try table.barrier(keys: ["a", "n"]) { (tx: inout Transaction) throws in
        try tx.set("a", "new")
        try tx.set("a", "newer")
        #expect(try tx.remove("a/removed"))
        #expect(try !tx.remove("a/removed"))
        #expect(try tx.increment("n", by: 7) == 7)
        try tx.set("a/expired", "gone", expires: .at(nanosecondsSince1970: 1))
        #expect(try tx.get("a") == "newer")
        #expect(try tx.get("a/left") == "old")
        #expect(try tx.get("a/removed", as: String.self) == nil)
        #expect(try tx.get("a/expired", as: String.self) == nil)
        #expect(try tx.entry(forKey: "a")?.type == .string)
        #expect(try tx.keys(prefix: "a") == ["a", "a/left"].map { Array($0.utf8) })
        #expect(table.version == version, "nothing is written before the end")
      }
      #expect(table.version == version + 1)
      #expect(try reader.get("a") == "newer")
      #expect(try reader.get("n") == 7)
      #expect(try reader.read { view in try view.keys() } == ["a", "a/left", "n"].map { Array($0.utf8) })
    }
  }

  @Test(arguments: Table.Variant.allCases) func anErrorForgetsAllAndGivesTheKeysBack(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.set("a", "old")
      let version = table.version
      for _ in 0..<3 {
        #expect(throws: Refusal.self) {
          try table.barrier(keys: ["a"]) { (tx: inout Transaction) throws in
            try tx.set("a", "new")
            throw Refusal()
          }
        }
      }
      #expect(table.version == version)
      #expect(try table.get("a") == "old")
      try table.barrier(keys: ["a"], timeout: .zero) { _ in }
      #expect(table.version == version, "who changes nothing needs no version")
      try table.set("a", "set", timeout: .zero)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aPartThatThrowsUndoesItsOwnChangesAndNoMore(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      try table.set("a/kept", "old")
      try table.barrier(keys: ["a"]) { (tx: inout Transaction) throws in
        try tx.set("a/1", 1)
        for depth in 0..<2 {
          do {
            try tx.withSavepoint { (part: inout Transaction) throws in
              try part.set("a/1", 2)
              try part.set("a/new", 3)
              try part.remove("a/kept")
              if depth == 1 { try part.withSavepoint { (part: inout Transaction) throws in try part.set("a/in", 4) } }
              throw Refusal()
            }
            Issue.record("nothing was thrown")
          } catch {
            #expect(error is Refusal, "\(error)")
          }
          #expect(try tx.get("a/1") == 1)
          #expect(try tx.keys() == ["a/1", "a/kept"].map { Array($0.utf8) })
        }
        try tx.withSavepoint { (part: inout Transaction) throws in try part.set("a/2", 5) }
      }
      #expect(try table.read { view in try view.keys() } == ["a/1", "a/2", "a/kept"].map { Array($0.utf8) })
    }
  }

  @Test(arguments: Table.Variant.allCases) func anotherKeyIsRefusedByName(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.set("ab", "other")
      try table.set("b", "other")
      try table.barrier(keys: ["a", "c/d"]) { (tx: inout Transaction) throws in
        try tx.set("c/d/e", 1)
        for key in ["ab", "b", "c", "c/de", "A"] {
          var codes: [TableError?] = []
          do throws(TableError) { try tx.set(key, 1) } catch { codes.append(error) }
          do throws(TableError) { try tx.remove(key) } catch { codes.append(error) }
          do throws(TableError) { _ = try tx.get(key, as: Int.self) } catch { codes.append(error) }
          do throws(TableError) { try tx.increment(key) } catch { codes.append(error) }
          #expect(codes.count == 4 && codes.allSatisfy { $0?.code == .invalid }, "\(key)")
          #expect(codes.allSatisfy { $0?.message.contains("'\(key)'") == true })
        }
        #expect(try tx.keys() == [Array("c/d/e".utf8)], "of the keys locked")
      }
      #expect(error { try table.barrier(keys: [String]()) { _ in } }?.code == .invalid)
      #expect(error { try table.barrier(keys: [""]) { _ in } }?.code == .invalid)
      #expect(try table.get("ab") == "other")
    }
  }

  @Test(arguments: Table.Variant.allCases) func aKeyLockHasRoomForSoManyKeysAndSaysSo(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let keys = (0..<36).map { "k\($0)" }
      try table.barrier(keys: keys + keys) { (tx: inout Transaction) throws in for key in keys { try tx.set(key, 1) } }
      #expect(table.count == 36)
      let failure = error { try table.barrier(keys: keys + ["k"]) { _ in } }
      #expect(failure?.code == .invalid)
      #expect(failure?.message.contains("at most 36 keys") == true && failure?.message.contains("37") == true)
      let below = keys.map { "deep/\($0)" }
      #expect(code { try table.barrier(keys: below) { _ in } } == .invalid, "with the one above them")
      // The path of a single write that waits may be longer.
      let holder = try worker(table)
      try holder.ask("keyed a", expecting: "in")
      let deep = String(repeating: "a/", count: 60) + "a"
      #expect(error { try table.set(deep, 1, timeout: .milliseconds(30)) }?.holder?.pid == holder.pid)
      try holder.ask("commit", expecting: "ok")
      try table.set(deep, 1)
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatIsTooMuchChangesNothing(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 4 << 20) { table throws in
      try table.set("a/0", "old")
      let failure = error {
        try table.barrier(keys: ["a"]) { (tx: inout Transaction) throws in
          for index in 0..<100 { try tx.set("a/\(index)", [UInt8](repeating: 1, count: 100_000)) }
        }
      }
      #expect(failure?.code == .full)
      #expect(try table.get("a/0") == "old")
      #expect(table.count == 1)
      try table.barrier(keys: ["a"], timeout: .seconds(1)) { (tx: inout Transaction) throws in try tx.set("a/0", "new")
      }
      #expect(try table.get("a/0") == "new")
    }
  }

  @Test(arguments: Table.Variant.allCases) func collectionsWorkInIt(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let names = try SharedDictionary<String, Int>("names", in: table)
      let queue = try SharedArray<String>("queue", in: table)
      try table.set("other", 1)
      try table.barrier(keys: ["names", "queue"]) { (tx: inout Transaction) throws in
        for index in 0..<1000 { try names.set("n\(index)", index, in: &tx) }
        try queue.append(contentsOf: (0..<1000).map { "job \($0)" }, in: &tx)
        #expect(try queue.remove(at: 500, in: &tx) == "job 500")
        #expect(try names.removeValue(forKey: "n7", in: &tx) == 7)
      }
      #expect(try names.count == 999)
      #expect(try queue.count == 999)
      #expect(try queue[500] == "job 501")
      try table.barrier(keys: ["names"]) { (tx: inout Transaction) throws in try names.removeAll(in: &tx) }
      #expect(try names.count == 0)
      #expect(try queue.count == 999)
    }
  }

  // MARK: - Whom it excludes

  @Test(arguments: Table.Variant.allCases) func itExcludesThoseThatShareAKeyAndNoOthers(_ variant: Table.Variant) throws
  {
    try withTable(variant) { table throws in
      for key in ["x/y", "x", "z"] { try table.set(key, "old") }
      let holder = try worker(table)
      try holder.ask("keyed x/y", expecting: "in")
      try holder.ask("set x/y new", expecting: "ok")
      // Beside it: readers, writers of other keys, barriers of other keys, also of one that is above or beside.
      #expect(try table.get("x/y") == "old")
      #expect(try table.read { view in try view.get("x/y") } == "old")
      try table.set("z", "new", timeout: .seconds(10))
      try table.set("x", "new", timeout: .seconds(10))
      try table.remove("x/z", timeout: .seconds(10))
      try table.barrier(keys: ["x/z", "z"], timeout: .seconds(10)) { (tx: inout Transaction) throws in
        try tx.set("x/z", "new")
      }
      // Not beside it, and told who is in the way.
      let short = Duration.milliseconds(30)
      let refused: [() throws -> Void] = [
        { try table.barrier(keys: ["x/y"], timeout: short) { _ in } },
        { try table.barrier(keys: ["z", "x/y/z"], timeout: short) { _ in } },
        { try table.barrier(keys: ["x"], timeout: short) { _ in } },
        { try table.barrier(timeout: short) { _ in } },
        { try table.set("x/y", "mine", timeout: short) },
        { try table.set("x/y/z", "mine", timeout: short) },
        { try table.remove("x/y", timeout: short) },
        { try table.increment("x/y/n", timeout: short) },
      ]
      for (index, body) in refused.enumerated() {
        let failure = error { try body() }
        #expect(failure?.code == .timedOut, "\(index)")
        #expect(failure?.holder?.pid == holder.pid, "\(index)")
      }
      try holder.ask("commit", expecting: "ok")
      #expect(try table.get("x/y") == "new")
      for body in refused.dropLast(3) { try body() }
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatHasExpiredIsLeftToWhoLocksIt(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      for key in ["a", "a/1", "b"] { try table.set(key, "gone", expires: .at(nanosecondsSince1970: 1)) }
      let holder = try worker(table)
      try holder.ask("keyed a", expecting: "in")
      #expect(try table.administration.sweepExpired(timeout: .seconds(10)) == 1, "it waits for nobody")
      try holder.ask("get a", expecting: "nil")
      try holder.ask("commit", expecting: "ok")
      #expect(try table.administration.sweepExpired() == 2)
    }
  }

  /// More of them than a step removes, in one sub-table: what lies behind them has its turn all the same.
  @Test(arguments: Table.Variant.allCases) func manyThatAreClaimedDoNotEndASweep(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.barrier { (tx: inout Transaction) throws in
        for index in 0..<300 { try tx.set("a/\(index)", "gone", expires: .at(nanosecondsSince1970: 1)) }
        for index in 0..<300 { try tx.set("b/\(index)", "gone", expires: .at(nanosecondsSince1970: 1)) }
      }
      let holder = try worker(table)
      try holder.ask("keyed a", expecting: "in")
      var (sweep, removed, steps) = (Table.ExpirySweep(), 0, 0)
      while !sweep.isAtEnd, steps < 1000 {
        removed += try table.administration.sweepExpired(&sweep, limit: 40)
        steps += 1
      }
      #expect(sweep.isAtEnd)
      #expect(removed == 300)
      try holder.ask("get a/7", expecting: "nil")
      try holder.ask("commit", expecting: "ok")
      #expect(try table.administration.sweepExpired() == 300)
    }
  }

  @Test(arguments: Table.Variant.allCases) func whoComesFirstIsServedFirst(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let (holder, whole, late) = try (worker(table), worker(table), worker(table))
      try holder.ask("keyed a", expecting: "in")
      try whole.send("barrier")
      try whole.waitUntilAsleep(in: .futex)
      // Of another key, but after a barrier of the whole table: that one would never get its turn.
      #expect(error { try table.barrier(keys: ["b"], timeout: .milliseconds(30)) { _ in } }?.code == .timedOut)
      try late.send("keyed b")
      try late.waitUntilAsleep(in: .futex)
      // A single write holds nobody up and goes first.
      try table.set("b", "set", timeout: .seconds(10))
      try holder.ask("commit", expecting: "ok")
      try whole.expectLine("in")
      #expect(!late.hasOutput)
      try whole.ask("commit", expecting: "ok")
      try late.expectLine("in")
      try late.ask("commit", expecting: "ok")
    }
  }

  @Test(arguments: Table.Variant.allCases) func whoWaitsIsWoken(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let ctl = table.segment.controlMemory!
      let waiter = try worker(table)
      try table.barrier(keys: ["a"]) { (_: inout Transaction) throws in
        try waiter.send("keyed a")
        try waiter.waitUntilAsleep(in: .futex)
      }
      // Whoever sleeps on the event sees it change, and need not look by itself.
      #expect(ctl.loadRelaxed(ControlLayout.keyLockEvent) != 0)
      try waiter.expectLine("in")
      try waiter.ask("commit", expecting: "ok")
      #expect(ctl.loadRelaxed(ControlLayout.keyLockSleepers) == 0)
      try table.set("b", 1)
      #expect(ctl.loadRelaxed(ControlLayout.keyLocks) == 0, "without a key lock no thread looks for one")
    }
  }

  @Test(arguments: Table.Variant.allCases) func whoGivesUpLetsTheOthersGoOn(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let (holder, late) = try (worker(table), worker(table))
      try holder.ask("keyed a", expecting: "in")
      #expect(error { try table.barrier(timeout: .milliseconds(30)) { _ in } }?.code == .timedOut)
      try late.ask("keyed b", expecting: "in")
      try late.ask("commit", expecting: "ok")
      try holder.ask("abort", expecting: "aborted")
    }
  }

  // MARK: - Deadlocks

  @Test(arguments: Table.Variant.allCases) func whatWouldWaitForItselfIsAnErrorAtOnce(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let other = try Table.open(table.name)
      try table.barrier(keys: ["a"]) { (tx: inout Transaction) throws in
        #expect(code { try other.barrier(keys: ["b"]) { _ in } } == .wouldDeadlock)
        #expect(code { try table.barrier { _ in } } == .wouldDeadlock)
        #expect(code { try other.set("b", 1) } == .wouldDeadlock)
        #expect(code { try table.read { _ in } } == .wouldDeadlock)
        #expect(code { try other.waitForReaders() } == .wouldDeadlock)
        _ = try tx.get("a", as: String.self)
        #expect(code { try table.read { _ in } } == .wouldDeadlock, "also after a look at the table")
      }
      #expect(code { try table.read { _ in try other.barrier(keys: ["a"]) { _ in } } } == .wouldDeadlock)
      #expect(code { try table.barrier { _ in try other.barrier(keys: ["a"]) { _ in } } } == .wouldDeadlock)
    }
  }

  // MARK: - Deaths

  @Test(arguments: Table.Variant.allCases) func theKilledHoldNoKeys(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.set("a", "old")
      for round in 0..<4 {
        let (holder, waiter) = try (worker(table), worker(table))
        try holder.ask("keyed a", expecting: "in")
        try holder.ask("set a new", expecting: "ok")
        try waiter.send(round % 2 == 0 ? "barrier" : "keyed a")
        try waiter.waitUntilAsleep(in: .futex)
        // First the one, then the other; whoever is left, or comes, goes on.
        if round < 2 {
          try waiter.killAndWait()
          try table.barrier(keys: ["b"], timeout: .seconds(20)) { _ in }
          try holder.killAndWait()
        } else {
          try holder.killAndWait()
          try waiter.expectLine("in")
          try waiter.killAndWait()
        }
        #expect(try table.get("a") == "old")
        try table.barrier(keys: ["a"], timeout: .seconds(20)) { _ in }
        try table.barrier(timeout: .seconds(20)) { _ in }
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func aChildForkedInItHasNeitherKeysNorChanges(_ variant: Table.Variant)
    throws
  {
    try withTable(variant) { table throws in
      let parent = try worker(table)
      try parent.ask("keyed-fork a", expecting: "error forked, error forked")
      try parent.expectLine("parent")
      #expect(try table.get("a") == "parent")
    }
  }

  /// What a barrier of keys stores lives from the call on, however long the barrier has lasted by then.
  @Test(arguments: Table.Variant.allCases) func whatItStoresLivesFromThenOn(_ variant: Table.Variant) throws {
    let clock = TestClock()
    try withTable(variant, clock: clock) { table throws in
      try table.set("job/old", 1, expires: .after(.seconds(3600)))
      try table.barrier(keys: ["job"]) { tx in
        #expect(try tx.get("job/old") == 1)
        clock.advance(600)
        try tx.set("job/new", 2, expires: .after(.seconds(60)))
        try tx.setExpiration(.after(.seconds(60)), of: "job/old")
      }
      clock.advance(59)
      #expect(try table.get("job/new") == 2)
      #expect(try table.get("job/old") == 1)
      clock.advance(2)
      #expect(try table.get("job/new", as: Int.self) == nil)
      #expect(try table.get("job/old", as: Int.self) == nil)
    }
  }

  // MARK: - A full table

  /// Its changes are at hand: they are made again where the next barrier can make room, also if it is not the capacity that is short.
  @Test(arguments: Table.Variant.allCases) func itsCommitIsTriedAgainWhereTheTableCannotGrow(_ variant: Table.Variant)
    throws
  {
    try withTable(variant) { table throws in
      let value = [UInt8](repeating: 1, count: 2_000)
      for index in 0..<5_000 { try table.set("key \(index)", value) }
      for index in stride(from: 0, to: 5_000, by: 2) { try table.remove("key \(index)") }
      let size = try table.segment.dataObject.status().size
      let process = try worker(table)
      try process.ask("limit-files \(size)", expecting: "ok")
      // Half of the table is free, but nowhere so much in one piece.
      try process.ask("keyed-large large 1500000", expecting: "ok")
      #expect(try table.segment.dataObject.status().size == size)
      try process.finish()
    }
  }

  // MARK: - Many

  @Test(arguments: Table.Variant.allCases) func nothingIsLostHoweverManyShareTheKeysAndDie(_ variant: Table.Variant)
    throws
  {
    try withTable(variant) { table throws in
      let accounts = 6
      let seed = UInt64(environment("MODEL_SEED") ?? Int(UInt32.random(in: 1 ... .max)))
      var generator = SplitMix(seed: seed)
      for account in 0..<accounts { try table.set("account/\(account)", 1000) }
      func launch() throws -> WorkerProcess {
        let process = try worker(table)
        try process.ask("keyed-transfers \(generator.next() >> 8) \(accounts)", expecting: "in")
        return process
      }
      var processes = try (0..<4).map { _ in try launch() }
      for _ in 0..<12 {
        let version = table.version + 50 + UInt64(generator.below(200))
        try #require(goOn(within: .seconds(600), until: { table.version >= version }) { sched_yield() })
        let victim = generator.below(processes.count)
        try processes[victim].killAndWait()
        processes[victim] = try launch()
        let (sum, paidIn) = try table.read { view in
          (try (0..<accounts).map { try view.get("account/\($0)")! }.reduce(0, +), try view.get("paid in") ?? 0)
        }
        #expect(sum == accounts * 1000 + paidIn, "seed \(seed)")
      }
      for process in processes { try process.killAndWait() }
    }
  }

  @Test(arguments: Table.Variant.allCases) func aSingleWriteIsNotLostInABarrierOfItsKey(_ variant: Table.Variant) throws
  {
    try withTable(variant) { table throws in
      let rounds = 300
      onThreads(3) { number in
        for _ in 0..<rounds {
          let failure = error {
            if number == 0 {
              try table.increment("n", timeout: .seconds(60))
            } else {
              try table.barrier(keys: ["n"], timeout: .seconds(60)) { (tx: inout Transaction) throws in
                let old = try tx.get("n") ?? 0
                sched_yield()
                try tx.set("n", old + 1)
              }
            }
          }
          #expect(failure == nil)
        }
      }
      #expect(try table.get("n") == 3 * rounds)
    }
  }

  private struct EmptyKey: TableKey {
    func withKeyBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
      try unsafe body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }

  /// A key's bytes are what its type hands out. Writers that have to look at key locks see them before they are checked.
  @Test(arguments: Table.Variant.allCases) func besideAKeyLockAnEmptyKeyIsRefused(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.barrier(keys: ["locked"]) { _ throws in
        let other = TestThread {
          [
            error { try table.set(EmptyKey(), 1, if: .absent) }, error { try table.set(EmptyKey(), 1) },
            error { try table.increment(EmptyKey()) }, error { _ = try table.remove(EmptyKey()) },
          ]
        }
        #expect(try other.join().map { $0?.code } == [.invalid, .invalid, .invalid, .invalid])
      }
    }
  }
}
