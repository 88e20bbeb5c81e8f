import Dispatch
import Glibc
import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// Asynchronous work and its handles.
@Suite struct WorkItemTests {
  @Test(arguments: Table.Variant.allCases) func waitingGivesTheResultOrTheError(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let barrier = try queue.async(flags: .barrier) { tx in try tx.increment("n") }
      let read = try queue.async { view in try view.get("n", as: Int.self) }
      #expect(try barrier.wait() == 1)
      #expect(try read.wait() == 1)
      #expect(try read.wait() == 1, "as often as one likes")
      let failing = try queue.async(flags: .barrier) { tx in
        try tx.set("n", 100)
        throw Refusal()
      }
      let after = try queue.async(flags: .barrier) { tx in try tx.increment("n") }
      #expect(throws: Refusal.self) { try failing.wait() }
      #expect(try after.wait() == 2, "what threw undid its own")
      #expect(failing.isFinished)
    }
  }

  private struct Kept { weak var queue: BarrierQueue? }

  /// Work does not count its queue: who is to have it go on keeps it, and who has a handle.
  @Test func aQueueIsKeptByItsWorkAndByHandles() throws {
    try withTable(.rcu) { table throws in
      let failures = Notes<String>()
      var queue: BarrierQueue? = try BarrierQueue(in: table, label: "org.example.test") { failures.add("\($0)") }
      let kept = Kept(queue: queue)
      let holder = try Holder(table)
      let ran = Notes<Int>()
      // One of them waits for the table in a lane, the others in the queue.
      for number in 0..<3 { try queue?.async(flags: .barrier) { _ in ran.add(number) } }
      try queue?.async(flags: .barrier) { _ in throw Refusal() }
      var last = try queue?.async(flags: .barrier) { _ in kept.queue != nil }
      queue = nil
      holder.leave()
      try holder.join()
      #expect(try last?.wait() == true)
      #expect(ran.all == [0, 1, 2])
      waitUntil { failures.all.count == 1 }
      #expect(kept.queue != nil, "the handle keeps it")
      last = nil
      waitUntil { kept.queue == nil }
    }
  }

  /// Results travel without their type: what is nothing at all must come out as what went in.
  @Test func resultsOfAnyTypeComeOutAsTheyWentIn() throws {
    try withQueue(.rcu) { queue throws in
      #expect(try queue.async(flags: .barrier) { _ in Int?.none }.wait() == nil)
      #expect(try queue.async { _ in Int??.some(nil) }.wait() == .some(nil))
      #expect(try queue.async { _ in ["a": [1, 2]] }.wait() == ["a": [1, 2]])
      #expect(try queue.async(keys: ["k"]) { _ in (any Sendable)?.none }.wait() == nil)
      let nested: any Sendable = try queue.async { _ in 5 as any Sendable }.wait()
      #expect(nested as? Int == 5)
    }
  }

  /// Threads ask for the result while the work ends: before, at that moment, and after.
  @Test func whoeverAsksIsToldOnce() throws {
    try withQueue(.rcu) { queue throws in
      let (told, threads, rounds) = (Notes<Int>(), 4, 500)
      for round in 0..<rounds {
        let go = Door()
        let item = try queue.async(flags: .barrier) { _ in
          go.open()
          return round
        }
        let asking = (0..<threads).map { _ in
          TestThread {
            go.wait()
            for _ in 0..<4 { item.whenFinished { result in told.add((try? result.get()) ?? -1) } }
          }
        }
        for thread in asking { try thread.join() }
        #expect(try item.wait() == round)
      }
      waitUntil { told.all.count >= 4 * threads * rounds }
      let counts = Dictionary(told.all.map { ($0, 1) }, uniquingKeysWith: +)
      #expect(counts == Dictionary(uniqueKeysWithValues: (0..<rounds).map { ($0, 4 * threads) }))
    }
  }

  @Test func observersAreToldInTheirOrder() throws {
    try withQueue(.rcu) { queue throws in
      let (leave, told) = (Door(), Notes<Int>())
      let item = try queue.async(flags: .barrier) { _ in leave.wait() }
      for number in 0..<10 { item.whenFinished { _ in told.add(number) } }
      leave.open()
      try item.wait()
      waitUntil { told.all.count == 10 }
      #expect(told.all == Array(0..<10))
    }
  }

  /// The handle's end and the work's may come in either order, or at once: the error handler is told of each failure once.
  @Test func aHandleThatEndsWithTheWorkIsReportedOnce() throws {
    let reports = Counter()
    try withQueue(.rcu, errorHandler: { _ in reports.increment() }) { queue throws in
      let rounds = 2000
      for _ in 0..<rounds {
        let go = Door()
        var item: WorkItem<Void>? = try queue.async(flags: .barrier) { _ in
          go.open()
          throw Refusal()
        }
        go.wait()
        #expect(item != nil)
        item = nil
      }
      waitUntil { queue.isIdle }
      waitUntil { reports.value >= rounds }
      #expect(reports.value == rounds)
    }
  }

  @Test func notifyIsCalledOnItsQueueBeforeAndAfterTheEnd() throws {
    try withQueue(.rcu) { queue throws in
      let place = DispatchQueue(label: "org.example.place")
      let key = DispatchSpecificKey<Bool>()
      place.setSpecific(key: key, value: true)
      let leave = Door()
      let item = try queue.async(flags: .barrier) { tx in
        leave.wait()
        return try tx.increment("n")
      }
      let told = Notes<Int>()
      item.notify(queue: place) { result in
        if DispatchQueue.getSpecific(key: key) == true { told.add((try? result.get()) ?? -1) }
      }
      leave.open()
      _ = try item.wait()
      item.notify(queue: place) { result in told.add(((try? result.get()) ?? -1) + 10) }
      waitUntil { told.all.count == 2 }
      #expect(told.all == [1, 11])
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatIsCancelledBeforeItBeganNeverRuns(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let (inside, leave) = (Door(), Door())
      let running = try queue.async(flags: .barrier) { tx in
        inside.open()
        leave.wait()
        return try tx.increment("n")
      }
      inside.wait()
      let barrier = try queue.async(flags: .barrier) { tx in try tx.increment("n", by: 100) }
      let read = try queue.async { _ in Issue.record("it must not run") }
      #expect(barrier.cancel() && read.cancel())
      #expect(!barrier.cancel() && !running.cancel(), "once, and not what has begun")
      #expect(throws: CancellationError.self) { try barrier.wait() }
      #expect(throws: CancellationError.self) { try read.wait() }
      leave.open()
      #expect(try running.wait() == 1)
      #expect(try queue.sync { view in try view.get("n") } == 1)
    }
  }

  @Test func waitingHasATimeoutAndTheWorkGoesOn() throws {
    try withQueue(.rcu) { queue throws in
      let leave = Door()
      let item = try queue.async(flags: .barrier) { _ in leave.wait() }
      let late = error { try item.wait(timeout: .milliseconds(20)) }
      #expect(late?.code == .timedOut)
      #expect(late?.description.contains("'org.example.test'") == true)
      leave.open()
      try item.wait()
    }
  }

  @Test(arguments: Table.Variant.allCases) func waitingInASectionForWorkThatMayWaitForItFailsAtOnce(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      let finished = try queue.async { _ in 7 }
      _ = try finished.wait()
      let item = try queue.sync { _ throws in
        let item = try queue.async(flags: .barrier) { _ in }
        #expect(error { try item.wait() }?.code == .wouldDeadlock)
        #expect(try finished.wait() == 7)
        return item
      }
      try item.wait()
    }
  }

  // MARK: - Errors nobody looks at

  @Test func theHandlerIsToldOfErrorsThatNobodyCanLookAt() throws {
    let told = Notes<String>()
    try withQueue(.rcu, errorHandler: { error in told.add("\(error)") }) { queue throws in
      try queue.async(flags: .barrier) { _ in throw Refusal() }
      waitUntil { told.all.count == 1 }

      // Dropped after its end.
      var item: WorkItem<Void>? = try queue.async { _ in throw Refusal() }
      waitUntil { item!.isFinished }
      #expect(told.all.count == 1, "somebody may look yet")
      item = nil
      waitUntil { told.all.count == 2 }

      // Looked at, or cancelled: of no concern to it.
      let looked = try queue.async { _ in throw Refusal() }
      #expect(throws: Refusal.self) { try looked.wait() }
      let (inside, leave) = (Door(), Door())
      let running = try queue.async(flags: .barrier) { _ in
        inside.open()
        leave.wait()
      }
      inside.wait()
      try queue.async { _ in }.cancel()
      leave.open()
      try running.wait()
      try queue.sync(flags: .barrier) { _ in }
    }
    #expect(told.all == ["Refusal()", "Refusal()"])
  }

  @Test func theHandlerMayUseTheQueue() throws {
    let done = Door()
    try withTable(.rcu) { table throws in
      let box = Notes<BarrierQueue>()
      // The queue has the handler, and the handler the queue.
      defer { box.clear() }
      let queue = try BarrierQueue(in: table, label: "org.example.test") { _ in
        #expect(throws: Never.self) { try box.all[0].sync(flags: .barrier) { tx in try tx.set("told", 1) } }
        done.open()
      }
      box.add(queue)
      try queue.async(flags: .barrier) { _ in throw Refusal() }
      done.wait()
      #expect(try table.get("told") == 1)
    }
  }

  /// The lane that waits for readers does so for all barriers that do: the handler's call must not keep it.
  @Test func theHandlerMayWaitForABarrierThatWaitsForReaders() throws {
    try withTable(.rcu) { table throws in
      let (told, ended) = (Door(), Door())
      let queue = try BarrierQueue(in: table, label: "org.example.test") { _ in
        told.open()
        ended.wait()
      }
      let reader = try worker(table)
      _ = try reader.ask("read")
      try queue.async(flags: .barrierWaitingForReaders, timeout: .milliseconds(20)) { _ in }
      let other = try queue.async(flags: .barrierWaitingForReaders, timeout: .seconds(2)) { _ in }
      other.whenFinished { _ in ended.open() }
      told.wait()
      #expect(error { try other.wait(timeout: .seconds(600)) }?.code == .readersRemain)
      try reader.ask("end", expecting: "ok")
    }
  }

  /// Both run in one turn of the queue, whose lane tells of one after the other.
  @Test func theHandlerMayWaitForABarrierOfTheSameTurn() throws {
    try withTable(.rcu) { table throws in
      let ended = Door()
      let queue = try BarrierQueue(in: table, label: "org.example.test") { _ in ended.wait() }
      let (inside, leave) = (Door(), Door())
      let running = try queue.async(flags: .barrier) { _ in
        inside.open()
        leave.wait()
      }
      inside.wait()
      try queue.async(flags: .barrier) { _ in throw Refusal() }
      let other = try queue.async(flags: .barrier) { tx in try tx.set("k", 1) }
      other.whenFinished { _ in ended.open() }
      leave.open()
      try running.wait()
      try other.wait(timeout: .seconds(600))
    }
  }

  // MARK: - Bounds

  @Test func aFullQueueRefusesAndTakesMoreWhenThereIsRoom() throws {
    try withQueue(.rcu, limit: 4) { queue throws in
      let (inside, leave) = (Door(), Door())
      let running = try queue.async(flags: .barrier) { _ in
        inside.open()
        leave.wait()
      }
      inside.wait()
      let waiting = try (0..<4).map { _ in try queue.async(flags: .barrier) { tx in try tx.increment("n") } }
      let refusal = error { try queue.async { _ in } }
      #expect(refusal?.code == .queueFull)
      #expect(refusal?.description.contains("'org.example.test'") == true)
      #expect(waiting[1].cancel())
      let next = try queue.async(flags: .barrier) { tx in try tx.increment("n") }
      leave.open()
      try running.wait()
      #expect(try next.wait() == 4)
      #expect(try waiting[3].wait() == 3)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aWholeGroupIsToldWhenTheTableCannotBeHad(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      let other = try worker(queue.table)
      try other.ask("barrier", expecting: "in")
      let items = try (0..<5).map { _ in
        try queue.async(flags: .barrier, timeout: .milliseconds(20)) { tx in try tx.increment("n") }
      }
      for item in items {
        let late = error { _ = try item.wait(timeout: .seconds(600)) }
        #expect(late?.code == .timedOut)
        #expect(late?.holder?.pid == other.pid)
        #expect(late?.description.contains("'org.example.test'") == true)
      }
      try other.ask("commit", expecting: "ok")
      #expect(try queue.sync { view in try view.get("n", as: Int.self) } == nil)
    }
  }
}
