import Dispatch
import Glibc
import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// Asynchronous barriers that follow each other share one barrier of the table, and nothing else.
@Suite struct GroupTests {
  /// Submits while the queue is kept busy, so that what is submitted follows each other.
  private func together<R>(_ queue: BarrierQueue, _ submit: () throws -> R) throws -> R {
    let (inside, leave) = (Door(), Door())
    try queue.async { _ in
      inside.open()
      leave.wait()
    }
    inside.wait()
    defer { leave.open() }
    return try submit()
  }

  @Test(arguments: Table.Variant.allCases) func aBurstTakesFewBarriersOfTheTable(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let count = 10_000
      for index in 0..<count { try queue.table.set("sync\(index % 100)", index) }
      let start = queue.table.version
      for index in 0..<count { try queue.sync(flags: .barrier) { tx in try tx.set("sync\(index % 100)", index) } }
      let between = queue.table.version
      let items = try together(queue) {
        try (0..<count).map { index in
          try queue.async(flags: .barrier) { tx in try tx.set("async\(index % 100)", index) }
        }
      }
      for item in items { try item.wait(timeout: .seconds(600)) }
      let end = queue.table.version
      print("\(variant): \(count) barriers took \(between - start) versions by sync, \(end - between) by async")
      #expect((end - between) * 4 < between - start)
      for index in 0..<100 { #expect(try queue.table.get("async\(index)") == count - 100 + index) }
    }
  }

  /// What one closure looks at, a later one may change in the same barrier of the table, and so under the same version.
  @Test(arguments: Table.Variant.allCases) func aVersionUnderWayMeetsNoCondition(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let table = queue.table
      try table.set("before", 1)
      let before = try #require(try table.entry(forKey: "before")).version
      let (first, second) = try together(queue) {
        (
          try queue.async(flags: .barrier) { tx in
            try tx.set("k", 1)
            var seen = [try tx.entry(forKey: "k")?.version, try tx.withEntry("k") { $0.version }]
            try tx.forEach(prefix: "k") { _, entry in seen.append(entry.version) }
            seen.append(try tx.first(prefix: "k") { _, entry in entry.version })
            #expect(try tx.entry(forKey: "before")?.version == before)
            return seen
          }, try queue.async(flags: .barrier) { tx in try tx.set("k", 2) }
        )
      }
      try second.wait()
      for version in try first.wait() { #expect(try !table.set("k", 3, if: .version(try #require(version)))) }
      #expect(try table.get("k") == 2)
    }
  }

  /// Nobody shares it.
  @Test(arguments: Table.Variant.allCases) func aBarrierOfOnesOwnShowsItsVersion(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let change = { @Sendable (tx: inout Transaction) throws -> UInt64 in
        try tx.set("k", 1)
        return try tx.entry(forKey: "k")!.version
      }
      let version = try queue.table.barrier { tx in try change(&tx) }
      #expect(version == queue.table.version)
      #expect(try queue.table.set("k", 2, if: .version(version)))
      #expect(try queue.sync(flags: .barrier) { tx in try change(&tx) } == queue.table.version)
    }
  }

  @Test(arguments: Table.Variant.allCases) func oneThatThrowsUndoesOnlyItsOwn(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let count = 1000
      let items = try together(queue) {
        try (0..<count).map { index in
          try queue.async(flags: .barrier) { tx in
            let sum = try tx.increment("n")
            try tx.set("k\(index)", index)
            if index % 10 == 3 { throw Refusal() }
            return sum
          }
        }
      }
      #expect(try queue.sync { view throws in try view.get("n") } == count - count / 10)
      for (index, item) in items.enumerated() {
        if index % 10 == 3 {
          #expect(throws: Refusal.self) { try item.wait() }
        } else {
          let expected = index + 1 - (index + 6) / 10
          guard try item.wait() == expected else {
            Issue.record("\(index): \(try item.wait()), not \(expected)")
            break
          }
        }
        #expect(try queue.table.get("k\(index)") == (index % 10 == 3 ? nil : index))
      }
    }
  }

  /// Twelve barriers of which a table of 2 MiB takes only some together: each overwrites the same large value.
  private func runTwelveThatFillTheTable(_ queue: BarrierQueue, _ runs: Counter) throws {
    let value = String(repeating: "x", count: 300_000)
    let items = try together(queue) {
      try (0..<12).map { _ in
        try queue.async(flags: .barrier) { tx in
          runs.increment()
          try tx.set("big", value)
        }
      }
    }
    for item in items { try item.wait(timeout: .seconds(600)) }
  }

  @Test(arguments: Table.Variant.allCases) func oneThatFindsNoRoomAmongOthersFindsItAlone(
    _ variant: Table.Variant
  ) throws {
    // A small table: what is overwritten in one barrier is free only after it.
    try withTable(variant, capacityBytes: 2 << 20) { table throws in
      let queue = try BarrierQueue(in: table, label: "org.example.test")
      let runs = Counter()
      try runTwelveThatFillTheTable(queue, runs)
      #expect(runs.value >= 12)
      #expect(try table.get("big", as: String.self)?.utf8.count == 300_000)
      if runs.value == 12 {
        print(
          "\(variant): not shown, one that finds no room among others: each of 12 had a barrier to itself, as on a busy machine"
        )
      }
      waitUntil { queue.isIdle }
    }
  }

  /// The second barrier finds no room beside the first, and when it runs again it ends only after the first one's submitter has been told.
  @Test func thoseThatHaveEndedDoNotWaitForOneThatIsPostponed() throws {
    try withQueue(.rcu) { queue throws in
      let (told, versions) = (Door(), Notes<UInt64>())
      let (runs, postponements) = (Counter(), Counter())
      let (first, second) = try together(queue) {
        let first = try queue.async(flags: .barrier) { _ in versions.add(queue.table.version) }
        first.notify(queue: .global()) { _ in told.open() }
        let second = try queue.async(flags: .barrier) { _ in
          runs.increment()
          if versions.all == [queue.table.version] {
            postponements.increment()
            throw TableError(.full, table: queue.table.name, "for the test")
          }
          told.wait()
        }
        return (first, second)
      }
      try first.wait(timeout: .seconds(600))
      try second.wait(timeout: .seconds(600))
      #expect(runs.value == postponements.value + 1 && postponements.value <= 1)
      if postponements.value == 0 {
        print("not shown, one that is postponed behind another: each had a barrier to itself, as on a busy machine")
      }
    }
  }

  /// One after the other: there is one handler for the process.
  @Suite(.serialized) struct Measured {
    /// Whoever measures groups is told once of each barrier that runs: of one that is postponed, and of none that is cancelled.
    @Test func whatRunsCountsInOneGroup() throws {
      try withTable(.rcu, capacityBytes: 2 << 20) { table throws in
        let queue = try BarrierQueue(in: table, label: "org.example.measured")
        let counts = Notes<Int>()
        GroupProbe.set { group in if group.table == table.name { counts.add(group.count) } }
        defer { GroupProbe.set(nil) }
        let runs = Counter()
        try GroupTests().runTwelveThatFillTheTable(queue, runs)
        try queue.flush(timeout: .seconds(600))
        // Whoever waits for a barrier may go on before the handler has run.
        #expect(eventually { counts.all.reduce(0, +) >= 12 })
        #expect(counts.all.reduce(0, +) == 12, "\(counts.all), with \(runs.value) runs")
        counts.clear()
        let last = Notes<WorkItem<Void>>()
        try GroupTests().together(queue) {
          // Behind it a lane holds the rest of the group.
          try queue.async(flags: .barrier) { _ in }
          try queue.async(flags: .barrier) { _ in last.all[0].cancel() }
          last.add(try queue.async(flags: .barrier) { _ in })
        }
        try queue.flush(timeout: .seconds(600))
        #expect(eventually { counts.all.reduce(0, +) >= 2 })
        #expect(counts.all.reduce(0, +) == 2, "\(counts.all)")
      }
    }

    /// It keeps its figures in a table, for example, by the queue that it is told of. In the queue's turn it would wait for itself.
    @Test func whoMeasuresGroupsMayUseTheQueue() throws {
      try withTable(.rcu) { table throws in
        let queue = try BarrierQueue(in: table, label: "org.example.measured")
        let (name, failures, runs) = (table.name, Notes<String>(), Counter())
        GroupProbe.set { group in
          guard group.table == name else { return }
          do { try queue.sync(flags: .barrier) { tx in _ = try tx.increment("groups", by: 1) } } catch {
            failures.add("\(error)")
          }
          runs.increment()
        }
        defer { GroupProbe.set(nil) }
        try queue.async(flags: .barrier) { tx in try tx.set("k", 1) }.wait(timeout: .seconds(600))
        #expect(eventually { runs.value == 1 })
        #expect(failures.all == [])
        #expect(try table.get("groups") == 1)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func oneForWhichThereIsNoRoomFailsAndTheOthersDoNot(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant, capacityBytes: 2 << 20) { table throws in
      let queue = try BarrierQueue(in: table, label: "org.example.test")
      let items = try together(queue) {
        try (0..<9).map { index in
          try queue.async(flags: .barrier) { tx in
            try tx.set("small\(index)", index)
            if index == 4 { for part in 0..<8 { try tx.set("big\(part)", String(repeating: "x", count: 500_000)) } }
          }
        }
      }
      for (index, item) in items.enumerated() {
        #expect(error { try item.wait(timeout: .seconds(600)) }?.code == (index == 4 ? .full : nil))
        #expect(try table.get("small\(index)") == (index == 4 ? nil : index))
      }
      waitUntil { queue.isIdle }
    }
  }

  @Test(arguments: Table.Variant.allCases) func theWholeGroupIsToldThatTheTableCannotBeHad(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      let other = try worker(queue.table)
      try other.ask("barrier", expecting: "in")
      // While the first one waits, the others gather behind it, and have the next turn together.
      try queue.async(flags: .barrier, timeout: .milliseconds(200)) { _ in }.notify(queue: .global()) { _ in }
      let items = try (0..<200).map { _ in
        try queue.async(flags: .barrier, timeout: .milliseconds(20)) { tx in try tx.increment("n") }
      }
      var messages: Set<String> = []
      for item in items {
        let late = error { _ = try item.wait(timeout: .seconds(600)) }
        messages.insert(late?.description ?? "")
        guard late?.code == .timedOut, late?.holder?.pid == other.pid else {
          Issue.record("\(String(describing: late))")
          break
        }
      }
      #expect(messages.allSatisfy { $0.contains("'org.example.test'") })
      #expect(messages.count < 50, "they waited one after the other")
      let after = try queue.async(flags: .barrier, timeout: .seconds(600)) { tx in try tx.increment("n") }
      try other.ask("commit", expecting: "ok")
      #expect(try after.wait(timeout: .seconds(600)) == 1)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aProcessKilledInAGroupLeavesNothingOfIt(_ variant: Table.Variant) throws
  {
    try withQueue(variant) { queue throws in
      let victim = try worker(queue.table)
      // The third of its group stops in its closure.
      let answer = try victim.ask("queue-group 3").split(separator: " ")
      try #require(answer.count == 2 && answer[0] == "in")
      let earlier = try #require(Int(answer[1]))
      try victim.killAndWait()
      #expect(
        try queue.sync(flags: .barrier, timeout: .seconds(600)) { tx throws in try tx.increment("n") } == earlier + 1)
    }
  }

  @Test(arguments: Table.Variant.allCases) func changesAreVisibleWhenTheirEndIsTold(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let told = Door()
      let seen = Notes<Int?>()
      let items = try together(queue) {
        let first = try queue.async(flags: .barrier) { tx in try tx.set("k", 1) }
        first.whenFinished { _ in
          TestThread { seen.add(try queue.table.get("k")) }.joinQuietly()
          told.open()
        }
        // Were the first one told while the group goes on, this would let it look.
        let second = try queue.async(flags: .barrier) { _ in
          _ = staysFalse(for: .milliseconds(100)) { told.isOpen }
        }
        return [first, second]
      }
      for item in items { try item.wait() }
      told.wait()
      #expect(seen.all == [1])
    }
  }

  /// What has not begun can be cancelled, though it belongs to the group already.
  @Test(arguments: Table.Variant.allCases) func oneCanCancelAnotherOfItsGroup(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let later = Notes<WorkItem<Int>>()
      let canceller = try together(queue) {
        // With it a lane takes others out of the queue.
        try queue.async(flags: .barrier) { _ in }
        let canceller = try queue.async(flags: .barrier) { _ in later.all[1].cancel() }
        for _ in 0..<3 { later.add(try queue.async(flags: .barrier) { tx in try tx.increment("n") }) }
        return canceller
      }
      #expect(try canceller.wait(timeout: .seconds(600)))
      #expect(throws: CancellationError.self) { try later.all[1].wait(timeout: .seconds(600)) }
      #expect(try later.all[2].wait(timeout: .seconds(600)) == 2)
    }
  }

  /// What the end of a closure does, it does without the queue's lock: else it would wait for itself, or for who waits for it.
  @Test func theEndOfACancelledBarriersClosureMayUseTheQueue() throws {
    try withQueue(.rcu) { queue throws in
      let ended = Notes<Bool>()
      let last = Mutex<WorkItem<Void>?>(nil)
      try together(queue) {
        try queue.async(flags: .barrier) { _ in }
        // Behind it a lane holds the rest of the group. The suspended queue takes that back.
        try queue.async(flags: .barrier) { _ in
          _ = last.withLock { $0.take() }?.cancel()
          queue.suspend()
        }
        try queue.async(flags: .barrier) { _ in }
        last.withLock { [atEnd = UseAtEnd(queue, ended)] item in
          item = try? queue.async(flags: .barrier) { _ in withExtendedLifetime(atEnd) {} }
        }
      }
      waitUntil { !ended.all.isEmpty }
      #expect(ended.all == [true])
      queue.resume()
      try queue.flush(timeout: .seconds(600))
    }
  }

  /// Nor in the barrier of those beside which it would have run: it would find itself in a section of the table.
  @Test func theEndOfACancelledBarriersClosureMayUseTheTable() throws {
    try withQueue(.rcu) { queue throws in
      let ended = Notes<TableError.Code?>()
      let last = Mutex<WorkItem<Void>?>(nil)
      try together(queue) {
        try queue.async(flags: .barrier) { _ in }
        // Behind it a lane holds the rest of the group.
        try queue.async(flags: .barrier) { _ in _ = last.withLock { $0.take() }?.cancel() }
        last.withLock { [atEnd = WriteAtEnd(queue, ended)] item in
          item = try? queue.async(flags: .barrier) { _ in withExtendedLifetime(atEnd) {} }
        }
      }
      waitUntil { !ended.all.isEmpty }
      #expect(ended.all == [nil])
      #expect(try queue.table.get("end") == 1)
    }
  }

  @Test func readsAndSynchronousBarriersEndAGroup() throws {
    try withQueue(.rcu) { queue throws in
      let seen = Notes<Int>()
      let items = try together(queue) {
        try (0..<30).map { index in
          index % 3 == 2
            ? try queue.async { view in seen.add(try view.get("n") ?? 0) }
            : try queue.async(flags: .barrier) { tx in _ = try tx.increment("n") }
        }
      }
      for item in items { try item.wait() }
      #expect(seen.all == (1...10).map { 2 * $0 })
    }
  }

  @Test(arguments: Table.Variant.allCases) func oneThatWaitsForReadersIsToldAfterThem(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let reader = try worker(queue.table)
      #expect(try reader.ask("queue-read").hasPrefix("in"))
      let items = try together(queue) {
        try (0..<4).map { index in
          try queue.async(flags: index == 1 ? .barrierWaitingForReaders : .barrier, timeout: .seconds(600)) { tx in
            try tx.increment("n")
          }
        }
      }
      if variant == .rcu {
        // The others are done, and what comes after goes on; the one waits.
        #expect(try items[0].wait() == 1 && items[3].wait() == 4)
        #expect(try queue.sync(flags: .barrier) { tx throws in try tx.increment("n") } == 5)
        #expect(!items[1].isFinished)
      }
      try reader.ask("end", expecting: "ok")
      #expect(try items[1].wait(timeout: .seconds(600)) == 2)
    }
  }

  @Test func whoWaitsForReadersHasTheTimeThatItAskedFor() throws {
    try withQueue(.rcu) { queue throws in
      try queue.table.set("n", 0)
      let reader = try worker(queue.table)
      #expect(try reader.ask("read").hasPrefix("in"))
      let (hasty, patient) = try together(queue) {
        (
          try queue.async(flags: .barrier, timeout: .zero) { tx in try tx.increment("n") },
          try queue.async(flags: .barrierWaitingForReaders, timeout: .seconds(600)) { tx in try tx.increment("n") }
        )
      }
      #expect(try hasty.wait(timeout: .seconds(600)) == 1)
      // By another way the same wait, for which there is no time.
      #expect(code { try queue.table.waitForReaders(timeout: .milliseconds(20)) } == .timedOut)
      try reader.ask("end", expecting: "ok")
      #expect(try patient.wait(timeout: .seconds(600)) == 2)
    }
  }

  @Test func whoWaitsForReadersBehindAPatientOneTimesOutInTime() throws {
    try withQueue(.rcu) { queue throws in
      try queue.table.set("n", 0)
      let reader = try worker(queue.table)
      #expect(try reader.ask("read").hasPrefix("in"))
      let waiting = try [600, 600, 0, 600].map { seconds in
        let item = try queue.async(flags: .barrierWaitingForReaders, timeout: .seconds(seconds)) { tx in
          try tx.increment("n")
        }
        try queue.flush(timeout: .seconds(600))
        return item
      }
      #expect(error { _ = try waiting[2].wait(timeout: .seconds(600)) }?.code == .readersRemain)
      #expect(waiting.count { $0.isFinished } == 1)
      try reader.ask("end", expecting: "ok")
      for index in [0, 1, 3] { #expect(try waiting[index].wait(timeout: .seconds(600)) == index + 1) }
    }
  }

  @Test(arguments: Table.Variant.allCases) func whoHasMorePatienceDoesNotFailWithTheFirst(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      let other = try worker(queue.table)
      try other.ask("barrier", expecting: "in")
      let hasty = try (0..<2).map { _ in
        try queue.async(flags: .barrier, timeout: .milliseconds(20)) { tx in try tx.increment("n") }
      }
      let patient = try queue.async(flags: .barrier, timeout: .seconds(600)) { tx in try tx.increment("n") }
      for item in hasty { #expect(error { _ = try item.wait(timeout: .seconds(600)) }?.code == .timedOut) }
      #expect(!patient.isFinished)
      try other.ask("commit", expecting: "ok")
      #expect(try patient.wait(timeout: .seconds(600)) == 1)
    }
  }
}

/// Writes at its end, and notes the error.
private final class WriteAtEnd: Sendable {
  private let queue: BarrierQueue
  private let errors: Notes<TableError.Code?>

  init(_ queue: BarrierQueue, _ errors: Notes<TableError.Code?>) {
    self.queue = queue
    self.errors = errors
  }

  deinit {
    errors.add(code { try queue.sync(flags: .barrier, timeout: .seconds(20)) { tx in try tx.set("end", 1) } })
  }
}

/// Asks at its end whether another thread can use a queue.
private final class UseAtEnd: Sendable {
  private let queue: BarrierQueue
  private let answers: Notes<Bool>

  init(_ queue: BarrierQueue, _ answers: Notes<Bool>) {
    self.queue = queue
    self.answers = answers
  }

  deinit {
    let isDone = DispatchSemaphore(value: 0)
    let thread = TestThread { [queue] in
      try queue.async(flags: .barrier) { _ in }
      isDone.signal()
    }
    let isFree = isDone.wait(timeout: .now() + 120) == .success
    // One that waits for us is not to be joined.
    if !isFree { _ = Unmanaged.passRetained(thread) }
    answers.add(isFree)
  }
}
