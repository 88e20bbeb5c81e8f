import Dispatch
import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// Barriers of some keys, in a queue's order.
@Suite struct KeyedTests {
  @Test(arguments: Table.Variant.allCases) func theyRunBesideReadsAndEachOther(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      try queue.table.set("a/1", 1)
      let (begun, goOn) = (Door(), Door())
      let item = try queue.async(keys: ["a"]) { tx in
        try tx.increment("a/1")
        begun.open()
        goOn.wait()
        return try tx.get("a/1", as: Int.self)
      }
      begun.wait()
      #expect(try queue.sync { view in try view.get("a/1") } == 1)
      try queue.sync(keys: ["b", "c"]) { tx in try tx.set("b", 7) }
      #expect(try queue.sync { view in try view.get("b") } == 7)
      goOn.open()
      #expect(try item.wait() == 2)
      #expect(try queue.sync { view in try view.get("a/1") } == 2)
    }
  }

  @Test(arguments: Table.Variant.allCases) func barriersOfTheTableComeBeforeAndAfterThem(_ variant: Table.Variant)
    throws
  {
    try withQueue(variant) { queue throws in
      let (begun, goOn) = (Door(), Door())
      let before = try queue.async(flags: .barrier) { tx in
        begun.open()
        goOn.wait()
        try tx.set("a", "before")
      }
      begun.wait()
      let keyed = try queue.async(keys: ["a"]) { tx in
        #expect(try tx.get("a") == "before")
        try tx.set("a", "keyed")
      }
      let after = try queue.async(flags: .barrier) { tx in
        #expect(try tx.get("a") == "keyed")
        try tx.set("a", "after")
      }
      #expect(queue.waitingCount == 2)
      goOn.open()
      for item in [before, keyed, after] { try item.wait() }
      #expect(try queue.table.get("a") == "after")
    }
  }

  @Test(arguments: Table.Variant.allCases) func manyTasksLoseNothing(_ variant: Table.Variant) async throws {
    try await withQueue(variant) { queue async throws in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<60 {
          group.addTask {
            let keys = ["n/\(task % 3)", "n/\((task + 1) % 3)"]
            try await queue.barrier(keys: keys, timeout: .seconds(60)) { tx in
              for key in keys { try tx.set(key, (try tx.get(key) ?? 0) + 1) }
            }
          }
        }
        try await group.waitForAll()
      }
      let sum = try await queue.read { view in try (0..<3).map { try view.get("n/\($0)") ?? 0 }.reduce(0, +) }
      #expect(sum == 120)
    }
  }

  /// How asynchronous work may wait for a table.
  enum Wait: CaseIterable { case forAKey, forTheTable, forAReader }

  /// More queues wait for a held table than there were threads for all queues of the process.
  @Test(arguments: Wait.allCases) func whatWaitsForOneTableHoldsUpNoOthersWork(_ wait: Wait) throws {
    try withQueue(wait == .forAReader ? .rwlock : .rcu) { queue throws in
      let (inside, leave) = (Door(), Door())
      let table = queue.table
      let holder = TestThread {
        let hold = {
          inside.open()
          leave.wait()
        }
        switch wait {
        case .forAKey: try table.barrier(keys: ["k"]) { _ in hold() }
        case .forTheTable: try table.barrier { _ in hold() }
        case .forAReader: try table.read { _ in hold() }
        }
      }
      defer { leave.open() }
      inside.wait()
      let long = Duration.seconds(60)
      let queues = try (0..<20).map { try BarrierQueue(in: table, label: "org.example.q\($0)") }
      let items = try queues.map { other in
        if wait == .forAKey { return try other.async(keys: ["k"], timeout: long) { tx in _ = try tx.increment("k") } }
        return try other.async(flags: .barrier, timeout: long) { tx in _ = try tx.increment("k") }
      }
      let temporary = try Table.temporary()
      let free = try BarrierQueue(in: temporary, label: "org.example.free")
      #expect(try free.async(flags: .barrier) { tx in try tx.increment("n") }.wait() == 1)
      if wait == .forAKey {
        // More of one queue than it may have threads at work, and then its own reads.
        let more = try (0..<10).map { _ in
          try queue.async(keys: ["k"], timeout: long) { tx in _ = try tx.increment("k") }
        }
        #expect(try queue.async { view in try view.count() }.wait() == 0)
        leave.open()
        for item in more { try item.wait(timeout: long) }
      }
      leave.open()
      for item in items { try item.wait(timeout: long) }
      try holder.join()
      #expect(try table.get("k") == (wait == .forAKey ? 30 : 20))
    }
  }

  @Test(arguments: Table.Variant.allCases) func errorsNameTheQueueAndLeaveIt(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      try queue.table.barrier(keys: ["other"]) { _ in
        let inner = error { try queue.sync(keys: ["a"]) { _ in } }
        #expect(inner?.code == .wouldDeadlock)
        #expect(inner?.message.contains("org.example.test") == true)
        #expect(error { try queue.sync { _ in } }?.code == .wouldDeadlock)
      }
      let holder = try worker(queue.table)
      try holder.ask("keyed a", expecting: "in")
      let late = error { try queue.sync(keys: ["a"], timeout: .milliseconds(20)) { _ in } }
      #expect(late?.code == .timedOut)
      #expect(late?.holder?.pid == holder.pid)
      #expect(late?.message.contains("org.example.test") == true)
      #expect(error { try queue.async(keys: ["a"], timeout: .milliseconds(20)) { _ in }.wait() }?.code == .timedOut)
      try holder.ask("commit", expecting: "ok")
      #expect(error { try queue.sync(keys: [String]()) { _ in } }?.code == .invalid)
      #expect(error { try queue.sync(keys: ["a"]) { tx in try tx.set("b", 1) } }?.code == .invalid)
      #expect(queue.isIdle)
    }
  }

  @Test(arguments: [false, true]) func anErrorOfTheCommitNamesTheQueue(_ isAsynchronous: Bool) throws {
    try withQueue(.rcu) { queue throws in
      let (begun, goOn) = (Door(), Door())
      let caller = TestThread {
        let timeout = Duration.milliseconds(50)
        let body = { @Sendable (tx: inout Transaction) throws in
          begun.open()
          goOn.wait()
          try tx.set("k", 1)
        }
        if isAsynchronous { return try queue.async(keys: ["k"], timeout: timeout, body).wait(timeout: .seconds(600)) }
        try queue.sync(keys: ["k"], timeout: timeout, body)
      }
      begun.wait()
      let holder = Holder(of: try SharedValue("other", in: queue.table, default: 0))
      goOn.open()
      let late = error { try caller.join() }
      holder.leave()
      try holder.join()
      #expect(late?.code == .timedOut)
      #expect(late?.message.hasPrefix("queue 'org.example.test': ") == true, "\(String(describing: late))")
    }
  }

  /// As a lane that waits for keys: others' work has another lane.
  @Test func aLaneThatWaitsForTheCommitSaysSo() throws {
    try withQueue(.rcu) { queue throws in
      let (begun, goOn) = (Door(), Door())
      let item = try queue.async(keys: ["k"], timeout: .seconds(600)) { tx in
        begun.open()
        goOn.wait()
        try tx.set("k", 1)
      }
      begun.wait()
      let holder = Holder(of: try SharedValue("other", in: queue.table, default: 0))
      #expect(queue.turnsWaiting == 0)
      goOn.open()
      waitUntil { queue.turnsWaiting == 1 }
      holder.leave()
      try item.wait(timeout: .seconds(600))
      try holder.join()
    }
  }

  /// The wait for the turn takes nearly all of one timeout, and the commit more than what is left.
  @Test func theCommitHasATimeoutOfItsOwn() throws {
    var timeout = Duration.milliseconds(500)
    // On a busy machine the wait for the turn may take all, or a thread may let the table go too late.
    while try !commitLate(timeout) { timeout *= 2 }
  }

  private func commitLate(_ timeout: Duration) throws -> Bool {
    var isInTime = true
    try withQueue(.rcu) { queue throws in
      let (goOn, inTable) = (Door(), Door())
      try queue.async(flags: .barrier) { _ in goOn.wait() }
      let start = ContinuousClock.now
      let opener = TestThread {
        waitUntil { ContinuousClock.now >= start + timeout * 0.8 }
        goOn.open()
        waitUntil { ContinuousClock.now >= start + timeout * 1.2 }
      }
      let value = try SharedValue("other", in: queue.table, default: 0)
      do {
        var holder: TestThread<Void>?
        try queue.sync(keys: ["k"], timeout: timeout) { tx in
          try tx.set("k", 1)
          holder = TestThread {
            try value.mutate { _ in
              inTable.open()
              opener.joinQuietly()
            }
          }
          inTable.wait()
        }
        try holder?.join()
        #expect(try queue.table.get("k") == 1)
      } catch let error as TableError where error.code == .timedOut && timeout < .seconds(16) {
        isInTime = false
      }
      opener.joinQuietly()
    }
    return isInTime
  }

  @Test func whatIsCancelledBeforeItsTurnDoesNotRun() throws {
    try withQueue(.rcu) { queue throws in
      let goOn = Door()
      try queue.async(flags: .barrier) { _ in goOn.wait() }
      let item = try queue.async(keys: ["a"]) { tx in try tx.set("a", 1) }
      item.cancel()
      goOn.open()
      #expect(throws: CancellationError.self) { try item.wait() }
      #expect(try queue.sync { view in try view.get("a", as: Int.self) } == nil)
    }
  }
}
