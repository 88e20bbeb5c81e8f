import Dispatch
import Glibc
import SharedTable
import Synchronization
import TableEngine
import TableTestSupport
import TestSupport
import Testing

private struct Refusal: Error {}

/// G1, G5 and G11 for an iteration by several threads.
@Suite struct ConcurrentForEachTests {
  /// So many that each of three threads gets a part, also an observer's, whose parts are sub-tables.
  private static let keysForThree = 12_000

  // MARK: - Each key once

  @Test(arguments: Setting.all) func everyKeyIsVisitedOnceByAnyNumberOfThreads(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      for count in [0, 1, 40, 6000] {
        let reference = try fill(table, "k", count)
        _ = try fill(table, "other", count)
        for threads in [1, 2, 3, 16, 300] {
          let sightings = Sightings()
          try reader.concurrentForEach(prefix: "k", threads: threads) { key, entry throws in
            sightings.add(key, entry)
          }
          sightings.expect(reference)
        }
      }
      let all = Atomic(0)
      try reader.concurrentForEach { _, _ throws in
        all.add(1, ordering: .relaxed)
      }
      #expect(all.load(ordering: .relaxed) == 12_000)
      #expect(code { try reader.concurrentForEach(threads: 0) { _, _ in } } == .invalid)
    }
  }

  @Test(arguments: WayIn.allCases) func threadsThatClaimAtOnceGetEveryHashOnce(_ way: WayIn) throws {
    try Setting(variant: .rcu, way: way).with { table, reader throws in
      _ = try fill(table, "k", 20_000)
      let segment = try Segment.open(table.name, way == .participant ? .participant : .observer)
      for _ in 0..<60 {
        let section = try segment.beginRead(timeoutNanoseconds: 1_000_000_000)
        defer { segment.endRead(section) }
        // Parts for many more, so that claims are many.
        let parts = ScanPartitioner(segment, segment.share(section, ExpiryClock()), threads: 256)
        let (claimed, rendezvous) = (Locked<[ScanPartition]>([]), Rendezvous(3))
        let claim: @Sendable () -> Void = {
          var own: [ScanPartition] = []
          rendezvous.arrive()
          while let part = parts.claim() { own.append(part) }
          claimed.withLock { $0 += own }
        }
        try beside(claim) { try beside(claim) { claim() } }
        let sorted = claimed.withLock { $0 }.sorted { $0.first < $1.first }
        #expect(sorted.first?.first == 0)
        #expect(sorted.last?.last == .max)
        for (part, next) in zip(sorted, sorted.dropFirst()) where part.last &+ 1 != next.first {
          Issue.record("\(part) is followed by \(next)")
          return
        }
      }
    }
  }

  @Test(arguments: WayIn.allCases) func everyKeyIsVisitedOnceWhileSubTablesSplitUnderTheScan(_ way: WayIn) throws {
    try Setting(variant: .rcu, way: way).with { table, reader throws in
      let reference = try fill(table, "old", 5000)
      let writer = Locked(try worker(table))
      let sightings = Sightings()
      let visits = Atomic(0)
      try reader.concurrentForEach(prefix: "old", threads: 3) { key, entry throws in
        sightings.add(key, entry)
        // At three moments: splits that stand, that are not committed yet, and that are taken back.
        let visit = visits.add(1, ordering: .relaxed).newValue
        try writer.withLock { writer throws in
          switch visit {
          case 100:
            try writer.ask("barrier", expecting: "in")
            try writer.ask("fill a 6000", expecting: "ok")
          case 1000:
            // Committed, an observer would rightly find its snapshot too old.
            if way == .observer { return }
            try writer.ask("commit", expecting: "ok")
            try writer.ask("barrier", expecting: "in")
            try writer.ask("fill b 6000", expecting: "ok")
          case 2500:
            if way == .observer { return }
            try writer.ask("abort", expecting: "aborted")
            _ = try writer.ask("maintain")
          default: return
          }
        }
      }
      sightings.expect(reference)
      try writer.withLock { writer throws in
        if way == .observer { try writer.ask("abort", expecting: "aborted") }
        try writer.finish()
      }
    }
  }

  @Test(arguments: Setting.all) func everyKeyIsVisitedOnceWhileAThreadWritesAndSplitsAllTheTime(
    _ setting: Setting
  ) throws {
    try setting.with { table, reader throws in
      let reference = try fill(table, "old", 3000)
      let isOver = Atomic(false)
      let scans = Counter()
      try beside {
        defer { isOver.store(true, ordering: .releasing) }
        var round = 0
        try goOn(until: { round >= 12 && (scans.value >= 3 || setting.way == .observer) }) {
          for step in 0..<20 { try table.set("new\(round % 12 * 20 + step)", step) }
          // Splits, and takes them back: so they can be had again and again.
          #expect(throws: Refusal.self) {
            try table.barrier { tx throws in
              for index in 0..<3000 { try tx.set("never\(index)", index) }
              throw Refusal()
            }
          }
          round += 1
        }
      } _: {
        var isLast = false
        while !isLast {
          isLast = isOver.load(ordering: .acquiring)
          let sightings = Sightings()
          do {
            try reader.concurrentForEach(prefix: "old", threads: 3) { key, entry throws in
              sightings.add(key, entry)
            }
          } catch let error as TableError where setting.way == .observer && !isLast {
            // What an observer looks at may be written while it looks; then it is told.
            #expect([.snapshotTooOld, .busy].contains(error.code), "\(error)")
            continue
          }
          sightings.expect(reference)
          if !isLast { scans.increment() }
        }
      }
      // An observer may be told each time that what it looks at was written.
      #expect(scans.value >= 3 || setting.way == .observer)
    }
  }

  // MARK: - One version

  @Test(arguments: WayIn.allCases) func allThreadsSeeTheVersionThatTheSectionBeganWith(_ way: WayIn) throws {
    try Setting(variant: .rcu, way: way).with { table, reader throws in
      let reference = try fill(table, "k", Self.keysForThree)
      let (sightings, rendezvous) = (Sightings(), Rendezvous(3))
      let isFirst = Atomic(true)
      // So few changes for an observer that reclaiming has no reason to pass its snapshot.
      let step = way == .observer ? 500 : 1
      try reader.read { view throws in
        let version = view.version
        try view.concurrentForEach(prefix: "k", threads: 3) { key, entry throws in
          if rendezvous.arrive() {
            if isFirst.exchange(false, ordering: .relaxed) {
              try onFreshThread { try change(table, every: step) }
            }
            // The others see the change at the latest when they leave.
            rendezvous.depart()
            #expect(try reader.read { $0.version } == version, "a read in it joins")
            #expect(try reader.get("knew", as: Int.self) == nil)
          }
          #expect(entry.version <= version)
          sightings.add(key, entry)
        }
      }
      sightings.expect(reference)
      #expect(try reader.get("knew") == -1)
    }
  }

  @Test func aSnapshotIsVisitedByManyThreadsAsItWas() throws {
    try withTable(.rcu) { table throws in
      let reference = try fill(table, "k", Self.keysForThree)
      let snapshot = try table.snapshot()
      try change(table, every: 1)
      let (sightings, rendezvous) = (Sightings(), Rendezvous(3))
      try snapshot.concurrentForEach(prefix: "k", threads: 3) { key, entry throws in
        rendezvous.arrive()
        #expect(try snapshot.get("k1") == 1)
        sightings.add(key, entry)
      }
      sightings.expect(reference)
    }
  }

  private func change(_ table: Table, every step: Int) throws {
    try table.barrier { tx throws in
      for index in stride(from: 0, to: Self.keysForThree, by: step) {
        if index % 3 > 0 { try tx.set("k\(index)", -1) } else { try tx.remove("k\(index)") }
      }
      try tx.set("knew", -1)
    }
  }

  @Test(arguments: Setting.all) func theSumIsTheSameHoweverMuchIsMovedBetweenKeys(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      let accounts = 2000
      try table.barrier { tx throws in
        for index in 0..<accounts { try tx.set("account\(index)", 100) }
      }
      let isOver = Atomic(false)
      let scans = Counter()
      try beside {
        defer { isOver.store(true, ordering: .releasing) }
        var (generator, round) = (SplitMix(seed: 5), 0)
        try goOn(until: { round >= 1500 && (scans.value >= 3 || setting.way == .observer) }) {
          round += 1
          let (from, to) = (generator.below(accounts), generator.below(accounts))
          try table.barrier { tx throws in
            try tx.increment("account\(from)", by: -7)
            try tx.increment("account\(to)", by: 7)
          }
        }
      } _: {
        var isLast = false
        while !isLast {
          isLast = isOver.load(ordering: .acquiring)
          let (sum, count) = (Locked(0), Locked(0))
          do {
            try reader.concurrentForEach(threads: 3) { _, entry throws in
              let value = entry.value(as: Int.self)!
              sum.withLock { $0 += value }
              count.withLock { $0 += 1 }
            }
          } catch let error as TableError where setting.way == .observer && !isLast {
            #expect([.snapshotTooOld, .busy].contains(error.code), "\(error)")
            continue
          }
          #expect(sum.withLock { $0 } == 100 * accounts)
          #expect(count.withLock { $0 } == accounts)
          if !isLast { scans.increment() }
        }
      }
      #expect(scans.value >= 3 || setting.way == .observer)
    }
  }

  @Test(arguments: Setting.all) func allThreadsJudgeExpiryByOneInstant(_ setting: Setting) throws {
    let clock = TestClock()
    try setting.with(clock: clock) { table, reader throws in
      try table.barrier { tx throws in
        for index in 0..<Self.keysForThree {
          try tx.set(
            "k\(index)", index, expires: .at(nanosecondsSince1970: clock.now + UInt64(index % 2) * 1_000_000_000))
        }
      }
      let reference = Dictionary(
        uniqueKeysWithValues: (0..<Self.keysForThree).filter { $0 % 2 == 1 }.map { ("k\($0)", $0) })
      let (sightings, rendezvous) = (Sightings(), Rendezvous(3))
      try reader.read { view throws in
        // By now the section has its instant.
        #expect(try view.get("k1") == 1)
        clock.advance(1)
        try view.concurrentForEach(threads: 3) { key, entry throws in
          rendezvous.arrive()
          sightings.add(key, entry)
        }
      }
      sightings.expect(reference)
    }
  }

  // MARK: - Threads

  @Test(arguments: Setting.all) func asManyThreadsVisitAtOnceAsAreAskedFor(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      // A small table too, for participants.
      _ = try fill(table, "k", setting.way == .observer ? 20_000 : 500)
      let rendezvous = Rendezvous(4)
      try reader.concurrentForEach(threads: 4) { _, _ throws in
        rendezvous.arrive()
      }
      #expect(rendezvous.count == 4)
    }
  }

  @Test(arguments: Table.Variant.allCases) func everyThreadOfAScanIsInAReadSection(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let reference = try fill(table, "k", 500)
      #expect(code { try table.barrier { _ in try table.concurrentForEach { _, _ in } } } == .wouldDeadlock)
      let (sightings, rendezvous) = (Sightings(), Rendezvous(3))
      try table.concurrentForEach(threads: 3) { key, entry throws in
        sightings.add(key, entry)
        if rendezvous.arrive() {
          #expect(code { try table.set("k1", 0) } == .wouldDeadlock)
          #expect(code { try table.waitForReaders() } == .wouldDeadlock)
          let inner = Sightings()
          try table.concurrentForEach(threads: 2) { key, entry throws in
            inner.add(key, entry)
          }
          inner.expect(reference)
        }
      }
      sightings.expect(reference)
      // All sections are over: barriers run again, and at once.
      try table.set("k1", 0, timeout: .seconds(1))
    }
  }

  @Test func inTheRWLockVariantAWaitingWriterDoesNotStopTheOtherThreads() throws {
    try withTable(.rwlock) { table throws in
      let reference = try fill(table, "k", 500)
      let control = try Segment.open(table.name, .participant).controlMemory!
      let isReading = DispatchSemaphore(value: 0)
      let (sightings, rendezvous) = (Sightings(), Rendezvous(3))
      try beside {
        isReading.wait()
        try table.set("k1", -1)
      } _: {
        try table.read { view throws in
          isReading.signal()
          try #require(eventually { control.loadAcquire(RWLayout.writerWaiting) != 0 })
          try view.concurrentForEach(threads: 3) { key, entry throws in
            rendezvous.arrive()
            #expect(try table.get("k1") == 1)
            sightings.add(key, entry)
          }
        }
      }
      sightings.expect(reference)
      #expect(try table.get("k1") == -1)
    }
  }

  @Test func checkedReadsMayVisitByManyThreads() throws {
    try withTable(.rcu) { table throws in
      let reference = try fill(table, "k", 3000)
      let sightings = Sightings()
      try table.checkedRead { view throws in
        try view.concurrentForEach(threads: 3) { key, entry throws in
          sightings.add(key, entry)
        }
      }
      sightings.expect(reference)
    }
  }

  /// Its walk bounds what it meets, and must not take one scan after another for a circle.
  @Test(arguments: Table.Variant.allCases) func anObserversSectionMayVisitTheTableAgainAndAgain(
    _ variant: Table.Variant
  ) throws {
    try Setting(variant: variant, way: .observer).with(capacityBytes: 1 << 20) { table, reader throws in
      _ = try fill(table, "k", 100)
      try reader.read { view throws in
        for _ in 0..<200 {
          let count = Atomic(0)
          try view.concurrentForEach(threads: 2) { _, _ throws in
            count.add(1, ordering: .relaxed)
          }
          #expect(count.load(ordering: .relaxed) == 100)
        }
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func aChildForkedInAScanDoesNotWaitForTheOtherThreads(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      _ = try fill(table, "k", 500)
      let parent = try worker(table)
      try parent.ask("scan-fork", expecting: "child error forked, parent visited 500")
      try parent.finish()
    }
  }

  // MARK: - Errors

  @Test(arguments: Setting.all) func anErrorEndsTheScanAndIsRethrown(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      _ = try fill(table, "k", 10_000)
      for threads in [1, 3] {
        let visits = Atomic(0)
        let scan = {
          try reader.concurrentForEach(threads: threads) { _, _ throws in
            let visit = visits.add(1, ordering: .relaxed).newValue
            if visit == 1000 { throw Refusal() }
            // So slow that the others cannot be through before they hear of it.
            if visit > 1000 { usleep(1000) }
          }
        }
        #expect(throws: Refusal.self) { try scan() }
        let last = visits.load(ordering: .relaxed)
        #expect(threads == 1 ? last == 1000 : last < 10_000)
      }
      // What a thread that stopped early held is free again.
      try table.set("k1", 1, timeout: .seconds(1))
    }
  }

  @Test func theFirstOfManyErrorsIsRethrown() throws {
    try withTable(.rcu) { table throws in
      _ = try fill(table, "k", 500)
      let rendezvous = Rendezvous(3)
      #expect(throws: Refusal.self) {
        try table.concurrentForEach(threads: 3) { _, _ throws in
          rendezvous.arrive()
          throw Refusal()
        }
      }
      #expect(rendezvous.count == 3)
    }
  }
}

/// Runs `work` in a thread beside `body`, and joins it.
private func beside(_ work: @escaping @Sendable () throws -> Void, _ body: () throws -> Void) throws {
  let queue = DispatchQueue(label: "beside")
  let failure = Locked<(any Error)?>(nil)
  queue.async {
    do { try work() } catch { failure.withLock { $0 = error } }
  }
  defer { queue.sync {} }
  try body()
  queue.sync {}
  if let failure = failure.withLock({ $0 }) { throw failure }
}

/// Keys with the prefix, each with its number as value; all in one barrier.
private func fill(_ table: Table, _ prefix: String, _ count: Int) throws -> [String: Int] {
  var reference: [String: Int] = [:]
  try table.barrier { tx throws in
    for index in 0..<count {
      try tx.set("\(prefix)\(index)", index)
      reference["\(prefix)\(index)"] = index
    }
  }
  return reference
}
