import SharedTable
import Synchronization
import TableMirror
import TableTestSupport
import TestSupport
import Testing
import UpstreamWrites

/// Writes to a mirror by the library: through the socket for Redis' clients to the store, and back into the table.
@Suite struct LibraryWriteTests {
  @Test(arguments: Table.Variant.allCases)
  func eachWriteChangesTheStoreAndIsReadAtOnce(variant: Table.Variant) async throws {
    try await MirroredHost.with(variant) { host in
      let (store, table) = (host.fixture.store, host.fixture.table)
      try await host.write { try $0.set("limit", "9") }
      #expect(try table.get("limit", as: String.self) == "9")
      try await host.write { try $0.set(Array("raw\n".utf8), [255, 0, 13, 10]) }
      #expect(try table.get("raw\n", as: [UInt8].self) == [255, 0, 13, 10])
      try await host.write { try $0.set("empty", "") }
      #expect(try table.get("empty", as: String.self) == "")
      #expect(try await host.write { try $0.increment("visits", by: 40) } == 40)
      #expect(try await host.write { try $0.increment("visits", by: -41) } == -1)
      #expect(try table.get("visits", as: String.self) == "-1")
      #expect(try await host.write { try $0.remove("limit") })
      #expect(try await !host.write { try $0.remove("limit") })
      #expect(try !table.contains("limit"))
      #expect(store.value("app/visits") == "-1" && store.value("app/limit") == nil)
      // Whose handle only reads the table may write over there.
      let observer = try Table.open(table.name, access: .observer)
      let sum = try await host.write { _ in
        try observer.upstream.transaction { tx in
          let sum = Int(try tx.get("visits")!)! + 10
          try tx.set("visits", "\(sum)")
          return sum
        }
      }
      #expect(try sum == 9 && observer.get("visits", as: String.self) == "9")
    }
  }

  @Test func tasksWriteWithoutAThreadOfTheirs() async throws {
    try await MirroredHost.with { host in
      let table = host.fixture.table
      // More than the pool has threads: if each kept one, the store's answers, which come by the pool, would never come.
      let sums = try await withThrowingTaskGroup(of: Int64.self) { group in
        for _ in 0..<64 { group.addTask { try await table.upstream.increment("n", timeout: .seconds(600)) } }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(sums == Set(1...64))
      try await table.upstream.set("a", "1")
      try await table.upstream.set("b", [1, 255])
      #expect(try await table.upstream.remove("a"))
      let sum = try await table.upstream.transaction { tx in
        let sum = (Int(try tx.get("n") ?? "") ?? 0) + 1
        try tx.set("n", "\(sum)")
        return sum
      }
      #expect(sum == 65)
      #expect(try host.fixture.contents["n"] == "65")
      #expect(try table.bytes(forKey: "b") == [1, 255])
      let cancelled = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await table.upstream.set("never", "1")
      }
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      #expect(try !table.contains("never"))
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func aTransactionSeesItselfAndIsOneRevision(variant: Table.Variant) async throws {
    try await MirroredHost.with(variant) { host in
      let (store, table) = (host.fixture.store, host.fixture.table)
      try await host.fixture.wait(for: store.commit([("app/a", "1"), ("app/b", "2")]))
      let begin = store.position.revision
      let seen = try await host.write { upstream in
        try upstream.transaction { tx in
          var seen = [try tx.get("a"), try tx.get("c")]
          try tx.set("a", "10")
          try tx.set("c", [48])
          #expect(try tx.remove("b") && !tx.remove("b") && !tx.contains("b"))
          #expect(try tx.bytes(forKey: "c") == [48] && !tx.remove("nothing"))
          seen += [try tx.get("a"), try tx.get("c"), try tx.get("b")]
          // Nobody else sees it.
          #expect(try table.get("a", as: String.self) == "1")
          return seen
        }
      }
      #expect(seen == ["1", nil, "10", "0", nil])
      #expect(store.position.revision == begin + 1)
      #expect(try host.fixture.contents == ["a": "10", "c": "0"])
      // What throws changes nothing, and is thrown.
      struct Enough: Error, Equatable {}
      await #expect(throws: Enough()) {
        try await host.write { upstream in
          try upstream.transaction { tx in
            try tx.set("a", "11")
            throw Enough()
          }
        }
      }
      // More commands than are sent at once.
      try await host.write { upstream in
        try upstream.transaction { tx in for number in 0..<200 { try tx.set("many/\(number)", "\(number)") } }
      }
      #expect(store.position.revision == begin + 2)
      #expect(try host.fixture.contents.count == 202)
    }
  }

  /// An observer of the rwlock variant reads nothing more in a section beside which a barrier was committed.
  @Test func anObserversTransactionIsRunAnewWhereItsSnapshotWasWrittenOver() async throws {
    try await MirroredHost.with(.rwlock) { host in
      let (store, table) = (host.fixture.store, host.fixture.table)
      let observer = try Table.open(table.name, access: .observer)
      let tries = try await host.write { _ in
        var tries = 0
        let value = try observer.upstream.transaction { tx in
          tries += 1
          if tries == 1 {
            try TestThread {
              Result {
                let revision = store.commit([("app/k", "1")])
                try table.waitUntil(Table.Upstream.key, as: String.self, timeout: MirrorFixture.timeout) { text in
                  (text.flatMap { UpstreamStatus(text: $0) }?.revision ?? 0) >= revision
                }
              }
            }.join().get()
          }
          return try tx.get("k")
        }
        #expect(value == "1")
        return tries
      }
      // At least: the mirror commits its age meanwhile, too.
      #expect(tries > 1)
    }
  }

  @Test func whatChangedMeanwhileHasTheTransactionRunAnew() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      try await host.fixture.wait(for: store.commit([("app/n", "1"), ("app/other", "1")]))
      // Over there, when it is on its way.
      store.once(before: "n") { store.commit([("app/n", "10")]) }
      let runs = Atomic(0)
      let sum = try await host.write { upstream in
        try upstream.transaction { tx in
          runs.add(1, ordering: .relaxed)
          let sum = Int(try tx.get("n")!)! + 1
          try tx.set("n", "\(sum)")
          return sum
        }
      }
      #expect(sum == 11 && runs.load(ordering: .relaxed) == 2 && store.value("app/n") == "11")
      // Here, between its look and its way: what was looked at and is not written counts, too.
      runs.store(0, ordering: .relaxed)
      let table = host.fixture.table
      let read = try await host.write { upstream in
        try upstream.transaction { tx in
          let read = try tx.get("other")
          if runs.add(1, ordering: .relaxed).newValue == 1 {
            let revision = store.commit([("app/other", "2")])
            // The table has it before this section ends: what shmd watches from then on is the new value.
            let isShown = eventually { host.mirror.report.revision >= revision }
            #expect(isShown)
          }
          try tx.set("copy", read!)
          return read
        }
      }
      #expect(read == "2" && runs.load(ordering: .relaxed) == 2)
      #expect(try table.get("copy", as: String.self) == "2")
    }
  }

  @Test func whatOnlyReadsHoldsOverThereToo() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      try await host.fixture.wait(for: store.commit([("app/lock", "theirs")]))
      // The table does not show yet that it is free.
      store.once(before: "lock") { store.commit([("app/lock", nil)]) }
      let isTaken = try await host.write { upstream in
        try upstream.transaction { tx in try tx.contains("lock") }
      }
      #expect(!isTaken)
      store.once(before: "lock") { store.commit([("app/lock", "ours")]) }
      let owner = try await host.write { upstream in try upstream.transaction { tx in try tx.get("lock") } }
      #expect(owner == "ours")
      // What looks at nothing asks nobody.
      let before = store.state.withLock(\.commits.count)
      #expect(try await host.write { upstream in try upstream.transaction { _ in 7 } } == 7)
      #expect(store.state.withLock(\.commits.count) == before)
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func noCountOfTwoHostsIsLost(variant: Table.Variant) async throws {
    try await MirroredHost.with(variant) { one in
      try await MirroredHost.with(variant, store: one.fixture.store) { other in
        let sums = try await withThrowingTaskGroup(of: [Int64].self) { group in
          for host in [one, other] {
            for thread in 0..<8 { group.addTask { try await host.write { try count($0, inTransactions: thread < 4) } } }
          }
          return try await group.reduce(into: []) { $0 += $1 }
        }
        // Each sum was somebody's: no two have seen the same value before.
        #expect(sums.sorted() == Array(1...160))
        #expect(one.fixture.store.value("app/n") == "160")
      }
    }
  }

  private func count(_ upstream: Table.Upstream, inTransactions: Bool) throws -> [Int64] {
    try (0..<10).map { _ in
      if !inTransactions { return try upstream.increment("n", timeout: .seconds(60)) }
      return try upstream.transaction(timeout: .seconds(60)) { tx in
        let sum = (Int64(try tx.get("n") ?? "0") ?? 0) + 1
        try tx.set("n", "\(sum)")
        return sum
      }
    }
  }

  // MARK: - What goes wrong

  @Test func whatBecameOfTheWriteIsInTheCode() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      for (refusal, code) in [
        (.refused("too many"), .upstreamRefused), (.notPermitted("no"), .notPermitted),
        (.away("no leader"), .upstreamAway), (.unsure("it broke"), .upstreamUnsure),
      ] as [(UpstreamRefusal, TableError.Code)] {
        store.state.withLock { $0.refusal = refusal }
        let failure = await error { try await host.write { try $0.increment("n") } }
        #expect(failure?.code == code && failure?.message.contains("MIRROR") == false, "\(String(describing: failure))")
        let transaction = await error { try await host.write { try $0.transaction { try $0.set("n", "1") } } }
        #expect(transaction?.code == code)
      }
      store.state.withLock { ($0.refusal, $0.losesAnswers) = (nil, true) }
      let lost = await error { try await host.write { try $0.increment("n") } }
      #expect(lost?.code == .upstreamUnsure && store.value("app/n") == "1")
      store.state.withLock { $0.losesAnswers = false }
      try await host.write { try $0.set("word", "one") }
      #expect(await error { try await host.write { try $0.increment("word") } }?.code == .typeMismatch)
      try await host.write { try $0.set("most", "\(Int64.max)") }
      #expect(await error { try await host.write { try $0.increment("most") } }?.code == .invalid)
      store.set(isDown: true)
      try await host.fixture.wait { $0.state == .away && $0.problem == "the store is down" }
      let away = await error { try await host.write { try $0.set("a", "1") } }
      #expect(away?.code == .upstreamAway)
      #expect(
        away?.description
          == "table '\(host.fixture.table.name)': its mirror is away (the store is down); nothing was written")
    }
  }

  @Test func whatTheTableDoesNotShowInTimeIsLate() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      store.state.withLock { $0.isSilent = true }
      let late = await error { try await host.write { try $0.set("k", "w") } }
      #expect(late?.code == .upstreamLate && store.value("app/k") == "w")
    }
  }

  @Test func whoNeverHasItsTurnIsTold() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      store.changesBeforeEachCommit("app/n")
      let writes: [@Sendable (Table.Upstream) throws -> Void] = [
        { try $0.increment("n") },
        { try $0.transaction(timeout: .milliseconds(300)) { tx in try tx.set("n", try tx.get("n")! + "0") } },
      ]
      for write in writes {
        var thrown: TableError?
        // It is unsure, and asked again, where the store's answer waits for Swift's pool longer than shmd waits for it.
        _ = await comesTrue {
          thrown = await error { try await host.write(write) }
          return thrown?.code != .upstreamUnsure
        }
        #expect(
          thrown?.code == .timedOut && thrown?.message.hasSuffix("nothing was written, try again") == true,
          "\(String(describing: thrown))")
      }
    }
  }

  @Test func whatCannotGoThereIsNotSent() async throws {
    try await MirroredHost.with { host in
      let (store, table) = (host.fixture.store, host.fixture.table)
      let long = String(repeating: "k", count: Table.keyLengths.upperBound + 1)
      let huge = [UInt8](repeating: 1, count: table.maximumValueLength + 1)
      for (key, value, code) in [
        (long, [1], .tooLarge), ("", [1], .invalid), ("k", huge, .tooLarge), (Table.Upstream.key, [1], .invalid),
      ] as [(String, [UInt8], TableError.Code)] {
        #expect(await error { try await host.write { try $0.set(key, value) } }?.code == code)
        let several = await error {
          try await host.write { upstream in
            try upstream.transaction { tx in
              try tx.set("fine", "1")
              try tx.set(key, value)
            }
          }
        }
        #expect(several?.code == code)
      }
      #expect(store.state.withLock(\.commits).isEmpty)
      // The longest that there may be.
      let longest = String(repeating: "k", count: Table.keyLengths.upperBound)
      let largest = [UInt8](repeating: 7, count: table.maximumValueLength)
      try await host.write { try $0.set(longest, "1") }
      try await host.write { try $0.set("k", largest) }
      #expect(try table.bytes(forKey: "k") == largest && table.contains(longest))
    }
  }

  @Test func whatWouldWaitForItselfIsRefused() async throws {
    try await MirroredHost.with { host in
      let table = host.fixture.table
      try await host.write { upstream in
        try table.read { _ in
          #expect(code { try upstream.set("a", "1") } == .wouldDeadlock)
          #expect(code { try upstream.transaction { _ in } } == .wouldDeadlock)
        }
        let inside = code {
          try upstream.transaction { tx in
            try tx.set("a", "1")
            try upstream.set("b", "1")
          }
        }
        #expect(inside == .wouldDeadlock)
      }
      #expect(host.fixture.store.state.withLock(\.commits).isEmpty)
    }
    try withTableName { name in
      let table = try Table.create(name, Table.Options(capacityBytes: 2 << 20))
      #expect(code { try table.upstream.set("a", "1") } == .unsupported)
    }
  }

  @Test func withoutAServerNothingIsWritten() async throws {
    try await MirroredHost.with { host in
      await host.stopServing()
      let gone = await error { try await host.write { try $0.set("a", "1") } }
      #expect(gone?.code == .upstreamAway && gone?.message.contains("cannot be reached at \(host.socket)") == true)
    }
    try await MirrorFixture.with { fixture in
      let before = await error { try await fixture.table.upstream.set("a", "1") }
      #expect(before?.code == .upstreamAway && before?.message.contains("has not begun") == true)
      try await fixture.mirroring {
        try await fixture.wait(for: .following)
        let unserved = await error { try await fixture.table.upstream.set("a", "1") }
        #expect(unserved?.code == .upstreamAway && unserved?.message.contains("'resp'") == true)
      }
    }
  }

  /// The mirror says where, and there is a server, which serves other tables.
  @Test func aServerOfOtherTablesIsNotWrittenTo() async throws {
    try await MirroredHost.with { host in
      try await MirrorFixture.with { fixture in
        try await fixture.mirroring({ $0.writeSocketPath = host.socket }) {
          try await fixture.wait(for: .following)
          let unserved = await error { try await fixture.table.upstream.set("a", "1") }
          #expect(unserved?.code == .upstreamAway && unserved?.message.contains("does not serve it") == true)
        }
      }
      #expect(host.fixture.store.state.withLock(\.commits).isEmpty)
    }
  }

  @Test func aTableThatWasDroppedIsNotWrittenTo() async throws {
    try await MirroredHost.with { host in
      let table = host.fixture.table
      removeObjects(ofTable: table.name)
      #expect(await error { try await host.write { try $0.set("a", "1") } }?.code == .unlinked)
      #expect(host.fixture.store.state.withLock(\.commits).isEmpty)
    }
  }
}
