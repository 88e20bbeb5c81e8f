import Glibc
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// `table.changes`: what another process does, in its order and without gaps.
@Suite struct ChangesTests {
  /// The table as told: the version of each key that is there.
  private struct Replica {
    var versions: [[UInt8]: UInt64] = [:]
    var newest: UInt64 = 0
    var missed: UInt64 = 0
    var isInOrder = true

    mutating func apply(_ change: TableChange) {
      switch change {
      case .set(let key, let version): versions[key] = version
      case .removed(let key, _): versions[key] = nil
      case .missed(let count): missed += count
      }
      if let version = change.version {
        isInOrder = isInOrder && version >= newest
        newest = version
      }
    }

    static func of(_ table: Table) throws -> Replica {
      var replica = Replica()
      try table.read { view in
        try view.forEach { key, entry in
          replica.versions[
            [UInt8](unsafeUninitializedCapacity: key.byteCount) { buffer, count in
              key.withUnsafeBytes { UnsafeMutableRawBufferPointer(buffer).copyMemory(from: $0) }
              count = key.byteCount
            }] = entry.version
        }
      }
      return replica
    }
  }

  /// A writer is killed in the midst of it, again and again; whoever replays the changes from a snapshot on has the table.
  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func replayedChangesOfKilledWritersGiveTheTable(_ variant: Table.Variant, _ access: Table.Access) async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(
        name, .init(variant: variant, capacityBytes: 64 << 20), timeout: .seconds(600))
      for round in 0..<100 { try await table.set("key \(round)", round) }
      let reader = try Table.open(name, access: access, timeout: .seconds(600))
      var replica = try Replica.of(table)
      let changes = reader.changes(after: table.version)
      let told = Counter()
      let replay = Task { () async throws -> Replica in
        for try await change in changes {
          replica.apply(change)
          told.increment()
          if change.keyText == "end" { break }
        }
        return replica
      }
      var total = 0
      for seed in 1...6 as ClosedRange<UInt64> {
        let writer = try worker(table)
        try writer.send("change \(seed) 2500 300")
        // Killed wherever it is when so many of its changes have come through; the last one may end by itself.
        let before = told.value
        if seed < 6 { try #require(await comesTrue(within: .seconds(600)) { told.value >= before + 1200 }) }
        if seed == 6 { total = Int(try writer.readLine().split(separator: " ")[1])! }
        try writer.killAndWait()
      }
      try table.administration.maintain()
      try await table.set("end", 1)
      let replayed = try await replay.value
      #expect(replayed.versions == (try Replica.of(table)).versions)
      #expect(replayed.missed == 0 && replayed.isInOrder)
      #expect(told.value >= 6000 + total && total > 3000)
      #expect(try table.check() == [])
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func aSequenceGoesOnWhereAnotherEnded(_ variant: Table.Variant) async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      let start = table.version
      for round in 0..<30 {
        try await table.barrier { tx in
          for part in 0..<3 { try tx.set("key \(round) \(part)", part) }
        }
      }
      func take(_ count: Int, from version: UInt64) async throws -> [TableChange] {
        var taken: [TableChange] = []
        for try await change in table.changes(after: version) {
          taken.append(change)
          if taken.count == count { break }
        }
        return taken
      }
      let all = try await take(90, from: start)
      #expect(all.map(\.keyText) == (0..<30).flatMap { round in (0..<3).map { "key \(round) \($0)" } })
      for ended in stride(from: 3, to: 90, by: 3) {
        #expect(try await take(90 - ended, from: all[ended - 1].version!) == Array(all[ended...]))
      }
      await #expect { try await take(1, from: table.version + 1) } throws: { ($0 as? TableError)?.code == .invalid }
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func onlyWhatIsAskedForIsTold(_ variant: Table.Variant) async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      let users = table.changes(prefix: "user.")
      let one = table.changes(forKey: "user.1")
      for key in ["a", "user.1", "user.10", "user", "user.2", "user.1"] { try await table.set(key, 1) }
      try await table.remove("user.1")
      func names(_ changes: TableChanges, _ count: Int) async throws -> [String] {
        var names: [String] = []
        for try await change in changes {
          if case .removed = change { names.append("-" + change.keyText!) } else { names.append(change.keyText!) }
          if names.count == count { break }
        }
        return names
      }
      #expect(try await names(users, 5) == ["user.1", "user.10", "user.2", "user.1", "-user.1"])
      #expect(try await names(one, 3) == ["user.1", "user.1", "-user.1"])
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func whoFallsBehindIsToldByHowMuch(_ variant: Table.Variant) async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      var slow = table.changes().makeAsyncIterator()
      try await table.set("first", 0)
      #expect(try await slow.next()?.keyText == "first")
      let total = 9000
      for round in 0..<total { try await table.set("a key of 21 bytes \(round % 100)", round) }
      try await table.set("last", 0)
      guard case .missed(let missed) = try await slow.next() else {
        Issue.record("nothing missed")
        return
      }
      var told = 0
      while let change = try await slow.next() {
        told += 1
        if change.keyText == "last" { break }
      }
      #expect(Int(missed) + told == total + 1)
      guard case .missed = try await table.changes(after: 1).first(where: { _ in true }) else {
        Issue.record("the log does not reach back so far")
        return
      }
    }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func whoWatchesKeysIsToldOfLossesOnlyIfTheyMayHaveChanged(_ variant: Table.Variant, _ access: Table.Access) throws {
    try withTableName { (name: String) throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      let reader = try Table.open(name, access: access)
      for key in ["kept", "changed", "removed", "replaced"] { try table.set(key, 0) }
      let version = table.version
      func feeds(_ key: String, after start: UInt64?) -> ChangeFeed {
        ChangeFeed(reader, after: start, .key(Array(key.utf8)))
      }
      var begun = ["kept", "changed", "removed", "replaced"].map { feeds($0, after: nil) }
      func prefixed(_ prefix: String) -> ChangeFeed { ChangeFeed(reader, after: nil, .prefix(Array(prefix.utf8))) }
      var ofPrefixes = ["kept", "changed", "rem", "ke", ""].map(prefixed)
      try table.set("changed", 1)
      try table.remove("removed")
      try table.remove("replaced")
      try table.set("replaced", 1)
      for round in 0..<9000 { try table.set("a key of 21 bytes \(round % 100)", round) }

      #expect(try begun.indices.map { try missed(&begun[$0]) } == [false, true, true, true])
      #expect(
        try ofPrefixes.indices.map { try missed(&ofPrefixes[$0]) } == [false, true, true, true, true],
        "of two bytes nothing is known")
      // Later losses are measured by what was read since.
      for round in 0..<9000 { try table.set("a key of 21 bytes \(round % 100)", round) }
      #expect(try begun.indices.allSatisfy { try !missed(&begun[$0]) })
      #expect(try ofPrefixes.indices.map { try missed(&ofPrefixes[$0]) } == [false, false, false, true, true])
      var anew = feeds("kept", after: version)
      #expect(try !missed(&anew))
      anew = feeds("kept", after: 1)
      #expect(try missed(&anew), "it was stored after version 1")
      try table.set("kept", 1)
      guard case .change(let change) = try begun[0].step() else {
        Issue.record("a change untold")
        return
      }
      #expect(change.keyText == "kept")
    }
  }

  /// The reader has seen the first records of a barrier when the last one, its own, is lost.
  @Test(arguments: Table.Variant.allCases) func aLossInABarrierThatWasReadInPartIsTold(_ variant: Table.Variant) throws
  {
    try withSmallTable(variant) { table in
      var feed = ChangeFeed(table, after: nil, .prefix(Array("mine".utf8)))
      try table.barrier { tx in
        for index in 0..<1_000 { try tx.set("other \(index)", index) }
        try tx.set("mine", 1)
      }
      guard case .again = try feed.step() else {
        Issue.record("it looked at all of them at once")
        return
      }
      for round in 0..<9_000 { try table.set("a key of 21 bytes \(round % 100)", round) }
      #expect(try missed(&feed))
      for round in 0..<9_000 { try table.set("a key of 21 bytes \(round % 100)", round) }
      #expect(try !missed(&feed))
    }
  }

  /// Reads to the end; says whether something was missed.
  private func missed(_ feed: inout ChangeFeed) throws -> Bool {
    var isAny = false
    while true {
      switch try feed.step() {
      case .change(.missed): isAny = true
      case .change, .again: break
      case .wait: return isAny
      }
    }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func cancellationEndsASequenceThatWaits(_ variant: Table.Variant, _ access: Table.Access) async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      let reader = try Table.open(name, access: access)
      for cancelsAtOnce in [true, false] {
        let begun = Counter()
        let waiting = Task {
          begun.increment()
          for try await _ in reader.changes() {}
          return "ended"
        }
        if !cancelsAtOnce { #expect(await comesTrue(within: .seconds(600)) { begun.value > 0 }) }
        waiting.cancel()
        #expect(try await waiting.value == "ended")
      }
      _ = table
    }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func aDropEndsASequenceAfterTheLastChange(_ variant: Table.Variant, _ access: Table.Access) async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      let reader = try Table.open(name, access: access)
      let changes = reader.changes()
      let watching = Task { () async -> (Int, TableError.Code?) in
        var told = 0
        do {
          for try await _ in changes { told += 1 }
          return (told, nil)
        } catch {
          return (told, (error as? TableError)?.code)
        }
      }
      try await table.set("key", 1)
      try Table.drop(name)
      let (told, code) = await watching.value
      #expect(told == 1)
      #expect(code == .unlinked)
    }
  }

  /// Whoever starts the watching thread looks once at what others wait for.
  @Test func whatEndsWhileTheWatchingThreadIsStartedIsTold() throws {
    try withSmallTable(.rcu) { table in
      try table.set("key", 1)
      let watcher = try worker(table)
      try watcher.ask("watch-at-once 10000", expecting: "ok")
      try watcher.finish()
    }
  }

  @Test func whoWatchesWhileNoThreadCanBeStartedIsToldLater() throws {
    try withSmallTable(.rcu) { table in
      let watcher = try worker(table)
      let lucky = try watcher.ask("watch-without-threads 10000")
      #expect(["0", "1"].contains(lucky), "\(lucky)")
      if lucky == "0" { print("not shown, one who watches while another is refused: in no round was only one refused") }
      try watcher.finish()
    }
  }

  @Test(arguments: [false, true])
  func manySequencesAreWatchedByOneThread(_ isDenied: Bool) throws {
    try withSmallTable(.rcu) { table in
      try withSmallTable(.rwlock) { other in
        let watcher = try worker(table)
        if isDenied { try watcher.ask("deny-waiting-for-many", expecting: "ok") }
        func expect(_ question: String, _ answer: String) throws {
          // Bounded by the worker's time.
          while try watcher.ask(question) != answer { sched_yield() }
        }
        for round in 0..<3 {
          try watcher.ask("open \(table.name)", expecting: "ok")
          try watcher.ask("watchers 60", expecting: "ok")
          try expect("watcher-threads", "1")
          try table.set("key", round)
          try expect("told", "60")
          try expect("watcher-threads", "0")
          try watcher.ask("open \(other.name)", expecting: "ok")
          try watcher.ask("watchers 5", expecting: "ok")
          try expect("watcher-threads", "1")
          try watcher.ask("cancel-watchers", expecting: "ok")
          try expect("watcher-threads", "0")
        }
        try watcher.finish()
      }
    }
  }

  /// A timeout of zero is enough for what is there.
  @Test func whatWasCommittedBeforeIsLookedThroughWhateverTheTimeout() throws {
    try withSmallTable(.rcu) { table in
      var changes = BlockingChanges(table, after: table.version, forKey: Array("wanted".utf8))
      for number in 0..<2000 { try table.set("other", number) }
      try table.set("wanted", 1)
      let told = try changes.next(timeout: .zero)
      #expect(told?.keyText == "wanted")
    }
  }

  @Test func aKeyThatCannotBeIsRefused() throws {
    try withSmallTable(.rcu) { table in
      var changes = BlockingChanges(table, after: nil, forKey: [])
      #expect(code { try changes.next(timeout: .zero) } == .invalid)
      changes = BlockingChanges(table, after: nil, forKey: [UInt8](repeating: 0x61, count: 65_537))
      #expect(code { try changes.next(timeout: .zero) } == .tooLarge)
      changes = BlockingChanges(table, after: nil, forKey: [UInt8](repeating: 0x61, count: 65_536))
      let told = try changes.next(timeout: .zero)
      #expect(told == nil)
    }
  }

  /// Copies that wait at the same time, in tasks of one actor.
  @MainActor @Test func copiesOfAnIteratorWaitEachForItself() async throws {
    try await withTableName { (name: String) async throws -> Void in
      let table = try Table.create(name, .init(capacityBytes: 4 << 20))
      var changes = table.changes().makeAsyncIterator()
      var updates = table.updates(forKey: "key", as: Int.self).makeAsyncIterator()
      _ = try await updates.next(isolation: MainActor.shared)
      // Each waits once: its task's change comes when this one is suspended.
      let first = Task { try await table.set("key", 1) }
      _ = try await changes.next(isolation: MainActor.shared)
      _ = try await first.value
      _ = try await updates.next(isolation: MainActor.shared)
      let second = Task { try await table.set("key", 2) }
      _ = try await updates.next(isolation: MainActor.shared)
      _ = try await second.value
      _ = try await changes.next(isolation: MainActor.shared)
      let (ofChanges, ofUpdates) = (changes, updates)
      let told = Counter()
      var tasks: [Task<Void, any Error>] = []
      for _ in 0..<2 {
        tasks.append(
          Task { @MainActor in
            var copy = ofChanges
            _ = try await copy.next(isolation: MainActor.shared)
            told.increment()
          })
        tasks.append(
          Task { @MainActor in
            var copy = ofUpdates
            _ = try await copy.next(isolation: MainActor.shared)
            told.increment()
          })
      }
      for _ in 0..<100 { await Task.yield() }
      try await table.set("key", 3)
      let end = ContinuousClock.now + .seconds(60)
      while told.value < 4, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(1)) }
      #expect(told.value == 4)
      for task in tasks { task.cancel() }
    }
  }

  @Test func aForkedChildWatchesByAThreadOfItsOwn() throws {
    try withSmallTable(.rcu) { table in
      let parent = try worker(table)
      try parent.ask("fork-watch", expecting: "1")
      try parent.finish()
    }
  }
}
