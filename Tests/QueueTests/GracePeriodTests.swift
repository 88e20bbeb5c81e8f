import Glibc
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// `Table.waitForReaders` and barriers that wait for readers: nobody is left who began before.
@Suite struct GracePeriodTests {
  @Test(arguments: Table.Variant.allCases) func synchronizingWaitsForSectionsThatBeganBefore(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      try table.set("k", "old")
      let reader = try worker(table)
      #expect(try reader.ask("read").hasPrefix("in"))
      let error = try #require(error { try table.waitForReaders(timeout: .milliseconds(50)) })
      #expect(error.code == .timedOut)
      #expect(error.holder?.pid == reader.pid)
      try reader.ask("end", expecting: "ok")
      try table.waitForReaders()
    }
  }

  @Test func sectionsThatBeginAfterAreNotWaitedFor() throws {
    try withTable(.rcu) { table throws in
      try table.set("k", "old")
      let (before, after) = (try worker(table), try worker(table))
      #expect(try before.ask("read").hasPrefix("in"))
      let version = table.version
      let other = TestThread { try table.waitForReaders() }
      // Its empty version is out: who begins now is of no concern to it.
      waitUntil { table.version > version }
      #expect(try after.ask("read").hasPrefix("in"))
      try before.ask("end", expecting: "ok")
      try other.join()
      try after.ask("get k", expecting: "old")
      try after.ask("end", expecting: "ok")
    }
  }

  @Test func anotherSectionAtTheSameVersionIsToldApart() throws {
    // No version lies between the section and the call but the one that the call makes.
    try withTable(.rcu) { table throws in
      let reader = try worker(table)
      #expect(try reader.ask("read").hasPrefix("in"))
      #expect(error { try table.waitForReaders(timeout: .milliseconds(20)) }?.code == .timedOut)
      try reader.ask("end", expecting: "ok")
      #expect(try reader.ask("read").hasPrefix("in"))
      #expect(error { try table.waitForReaders(timeout: .milliseconds(20)) }?.code == .timedOut)
      try reader.killAndWait()
      try table.waitForReaders()
    }
  }

  @Test(arguments: Table.Variant.allCases) func aKilledReaderIsNotWaitedFor(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let reader = try worker(table)
      #expect(try reader.ask("read").hasPrefix("in"))
      let isOver = Door()
      let other = TestThread {
        defer { isOver.open() }
        try table.waitForReaders(timeout: .seconds(600))
      }
      other.waitUntilAsleep()
      #expect(!isOver.isOpen)
      try reader.killAndWait()
      try other.join()
    }
  }

  @Test func aStoppedReaderIsNamed() throws {
    try withTable(.rcu) { table throws in
      let reader = try worker(table)
      #expect(try reader.ask("read").hasPrefix("in"))
      stop(reader)
      let queue = try BarrierQueue(in: table, label: "org.example.test")
      let late = try #require(
        error {
          try queue.sync(flags: .barrierWaitingForReaders, timeout: .milliseconds(50)) { tx in try tx.set("k", 1) }
        })
      #expect(late.code == .readersRemain)
      #expect(late.holder?.pid == reader.pid)
      #expect(late.description.contains("org.example.test") && late.description.contains("\(reader.pid)"))
      #expect(late.message.contains("do not run it again") && !late.message.contains("try again"))
      #expect(try table.get("k", as: Int.self) == 1, "it is committed all the same")
      let direct = error {
        try table.barrier(waitingForReaders: true, timeout: .milliseconds(50)) { tx in try tx.set("k", 2) }
      }
      #expect(direct?.code == .readersRemain)
      #expect(try table.get("k", as: Int.self) == 2)
      #expect(queue.isIdle, "the queue goes on")
    }
  }

  enum Way: CaseIterable { case table, queue, item }

  /// The timeout is for the wait: a closure that lasts as long has used up nothing of it.
  @Test(arguments: Way.allCases) func whatTheClosureTakesIsNoWait(_ way: Way) throws {
    var timeout = Duration.seconds(2)
    // On a busy machine the reader may not have gone by then.
    while try !commitsAfterClosure(thatTakes: timeout, way) { timeout *= 2 }
  }

  /// - Returns: false if readers remained; of more than 16 seconds that is an error.
  private func commitsAfterClosure(thatTakes timeout: Duration, _ way: Way) throws -> Bool {
    var isInTime = true
    try withTable(.rcu) { table throws in
      let queue = try BarrierQueue(in: table, label: "org.example.test")
      let reader = try worker(table)
      #expect(try reader.ask("read").hasPrefix("in"))
      let other = TestThread {
        waitUntil { (try? table.contains("k")) == true }
        // Whoever had no time left has given up before the answers are there.
        for _ in 0..<10 { _ = try reader.ask("get k") }
        try reader.ask("end", expecting: "ok")
      }
      let body = { @Sendable (tx: inout Transaction) throws in
        let end = ContinuousClock.now + timeout
        waitUntil { ContinuousClock.now > end }
        try tx.set("k", 1)
      }
      do {
        switch way {
        case .table: try table.barrier(waitingForReaders: true, timeout: timeout, body)
        case .queue: try queue.sync(flags: .barrierWaitingForReaders, timeout: timeout, body)
        case .item:
          try queue.async(flags: .barrierWaitingForReaders, timeout: timeout, body).wait(timeout: .seconds(600))
        }
      } catch let error as TableError where error.code == .readersRemain && timeout < .seconds(16) {
        isInTime = false
      }
      try other.join()
    }
    return isInTime
  }

  @Test func anObserverAndASnapshotAreNotWaitedFor() throws {
    try withTable(.rcu) { table throws in
      try table.set("k", "old")
      let observer = try WorkerProcess("table-worker")
      try observer.ask("open \(table.name) observer", expecting: "ok")
      #expect(try observer.ask("read").hasPrefix("in"))
      let snapshot = try table.snapshot()
      try table.waitForReaders(timeout: .seconds(600))
      #expect(try snapshot.get("k") == "old")
      #expect(
        try snapshot.read { _ in error { try table.waitForReaders() } }?.code == .wouldDeadlock, "its use is a section")
      try observer.ask("end", expecting: "ok")
    }
  }

  @Test func theUseOfAnOldSnapshotIsWaitedFor() throws {
    try withTable(.rcu) { table throws in
      try table.set("k", "old")
      let holder = try worker(table)
      _ = try holder.ask("snapshot")
      try table.set("k", "new")
      #expect(try holder.ask("snapshot-read").hasPrefix("in"))
      #expect(error { try table.waitForReaders(timeout: .milliseconds(20)) }?.holder?.pid == holder.pid)
      try holder.ask("get k", expecting: "old")
      try holder.ask("end", expecting: "ok")
      try table.waitForReaders()
    }
  }

  @Test(arguments: Table.Variant.allCases) func aBarrierWaitsForReadersOrFailsBeforeAnythingChanged(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      #expect(throws: Refusal.self) {
        try table.barrier(waitingForReaders: true) { tx in
          try tx.set("k", 1)
          throw Refusal()
        }
      }
      #expect(try table.get("k", as: Int.self) == nil)
      #expect(try table.barrier(waitingForReaders: true) { tx in try tx.increment("k") } == 1)
      #expect(try table.barrier(waitingForReaders: false) { tx in try tx.increment("k") } == 2)
      #expect(try table.read { _ in error { try table.waitForReaders() } }?.code == .wouldDeadlock)
      #expect(try table.barrier { _ in error { try table.waitForReaders() } }?.code == .wouldDeadlock)
      let observer = try Table.open(table.name, access: .observer)
      #expect(error { try observer.waitForReaders() }?.code == .notPermitted)
    }
  }

  @Test func barriersThatWaitForReadersCountTowardsTheLimit() async throws {
    try await withTable(.rcu) { table async throws in
      try await table.set("n", 0)
      let queue = try BarrierQueue(in: table, label: "org.example.test", limit: 2)
      let reader = try worker(table)
      #expect(try reader.ask("read").hasPrefix("in"))
      var waiting: [WorkItem<Int>] = []
      for count in 1...2 {
        waiting.append(
          try queue.async(flags: .barrierWaitingForReaders, timeout: .seconds(600)) { tx in try tx.increment("n") })
        // Its turn has ended; it waits.
        await suspendUntil { queue.isIdle && queue.order.withLock { $0.readerWaits.count } == count }
      }
      #expect(code { try queue.async { _ in } } == .queueFull)
      let patient = Task { try await queue.barrier(waitingForReaders: true) { tx in try tx.increment("n") } }
      await suspendUntil { queue.order.withLock { $0.outside.count } == 1 }
      try reader.ask("end", expecting: "ok")
      #expect(try await patient.value == 3)
      for (index, item) in waiting.enumerated() { #expect(try await item.value == index + 1) }
    }
  }

  /// The deadline of a wait may pass while waits are being sorted into those that are over and those that go on.
  @Test func aWaitWhoseTimeEndsMeanwhileIsNotLost() throws {
    let queue = try BarrierQueue(in: Table.temporary(), label: "org.example.waits")
    var waits = ReaderWaits()
    for version in 1...3 {
      _ = waits.add(.init(work: BarrierWork(queue, nil), version: UInt64(version), deadline: .never))
    }
    var looks = 0
    let over = waits.take { wait in
      looks += 1
      return wait.version == 1 || looks > 3
    }
    let rest = waits.take { _ in true }
    #expect((over + rest).map(\.version).sorted() == [1, 2, 3])
  }
}
