import SharedTable
import TableEngine
import TableMirror
import TableTestSupport
import TestSupport
import Testing

@Suite struct RecoveryTests {
  @Test(arguments: Table.Variant.allCases)
  func compactionWhileAwayIsADifferenceInOneBarrier(variant: Table.Variant) async throws {
    try await MirrorFixture.with(variant) { fixture in
      fixture.store.commit((0..<200).map { ("app/k\($0)", "same") })
      try await fixture.mirroring { try await fixture.wait(for: .following) }
      let untouched = try fixture.table.entry(forKey: "k7")!.version
      fixture.store.commit([("app/k0", "changed"), ("app/k1", nil), ("app/new", "1")])
      fixture.store.commit([("app/k2", "passed")])
      fixture.store.commit([("app/k2", nil)])
      fixture.store.compact()
      let last = fixture.store.position.revision
      let table = fixture.table
      let (looks, isOver) = (Counter(), Counter())
      // The table is read from the store when the reader has looked at it once.
      fixture.store.state.withLock { $0.beforePage = { _ in _ = eventually { looks.value > 0 } } }
      let (report, _) = try await fixture.mirroring {
        // Never an empty or a half table: 200 keys before, 199 after, and nothing in between.
        let reader = TestThread {
          var counts: Set<Int> = []
          var isLast = false
          while !isLast {
            isLast = isOver.value > 0
            counts.insert(try table.read { try $0.keys(prefix: "k").count })
            looks.increment()
          }
          return counts
        }
        defer { isOver.increment() }
        try await fixture.wait(for: last)
        isOver.increment()
        #expect(try reader.join() == [200, 198])
      }
      #expect(report.reads == 1)
      #expect(report.revisions == 0)
      #expect(try fixture.table.get("k0", as: String.self) == "changed")
      #expect(try fixture.contents.count == 199)
      #expect(try fixture.table.entry(forKey: "k7")!.version == untouched)
    }
  }

  @Test func compactionBetweenTwoPagesBeginsAnew() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit((0..<500).map { ("app/k\($0)", "v") })
      fixture.store.state.withLock { state in
        state.beforePage = { [weak store = fixture.store] count in
          guard count == 2, let store else { return }
          store.commit([("app/late", "1")])
          store.compact()
        }
      }
      let (report, _) = try await fixture.mirroring {
        try await fixture.wait(for: .following)
        #expect(try fixture.contents.count == 501)
      }
      #expect(report.reads == 1)
    }
  }

  /// Another cluster answers at the same address from some page on: the table is never a part of one and a part of the other.
  @Test func pagesOfTwoStoresMakeNoTable() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit((0..<500).map { ("app/k\($0)", "one") })
      fixture.store.state.withLock { state in
        state.beforePage = { [weak store = fixture.store] count in
          guard count == 2, let store else { return }
          store.state.withLock { state in
            state.cluster = 8
            for key in state.values.keys { state.values[key] = Array("other".utf8) }
          }
        }
      }
      let table = fixture.table
      let (report, news) = try await fixture.mirroring {
        try await fixture.wait { $0.cluster == 8 || $0.state == .stopped }
        let keys = try table.read { try $0.keys(prefix: "k") }
        #expect(try Set(keys.map { try table.get($0, as: String.self) }) == ["other"])
      }
      #expect(report.reads == 1)
      #expect(news.contains { if case .away = $0 { true } else { false } })
    }
  }

  /// It takes the other's place between the look at it and the read.
  @Test func aStoreThatTakesTheOthersPlaceBeforeAReadIsNotTaken() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      try await fixture.mirroring { try await fixture.wait(for: .following) }
      fixture.store.commit([("app/a", "other")])
      fixture.store.compact()
      fixture.store.state.withLock { state in
        state.beforePage = { [weak store = fixture.store] _ in store?.state.withLock { $0.cluster = 8 } }
      }
      try await fixture.mirroring {
        try await fixture.wait { $0.state == .stopped || $0.cluster == 8 }
        #expect(try fixture.contents == ["a": "1"])
      }
      #expect(try fixture.table.upstream.status()!.state == .stopped)
    }
  }

  @Test(arguments: [\FakeStore.State.largestPage, \FakeStore.State.largestPageInTime])
  func pagesShrinkWhereValuesAreLarge(for bound: WritableKeyPath<FakeStore.State, Int> & Sendable) async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit((0..<300).map { ("app/k\($0)", String(repeating: "x", count: 100)) })
      fixture.store.state.withLock { $0[keyPath: bound] = 250 }
      try await fixture.mirroring {
        try await fixture.wait(for: .following)
        #expect(try fixture.contents.count == 300)
      }
    }
  }

  /// Others write to the same store: each look is newer than the table, and how new the table is only the stream tells, or nobody yet.
  @Test(arguments: [false, true])
  func theTermOfAStoreThatIsBusyElsewhereIsKept(isFirstLook: Bool) async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      let elect = {
        fixture.store.state.withLock { state in
          state.term = 9
          state.revision += 5
        }
      }
      try await fixture.mirroring {
        try await fixture.wait(for: .following)
        if isFirstLook { return }
        elect()
        try await fixture.wait { $0.term == 9 }
      }
      if isFirstLook {
        elect()
        try await fixture.mirroring({ $0.checkInterval = .seconds(3600) }) {
          try await fixture.wait { $0.state == .following }
        }
        #expect(try fixture.table.upstream.status()!.term == 9)
      }
      // An old copy, of before the election.
      fixture.store.state.withLock { state in
        (state.term, state.values, state.history) = (8, [Array("app/z".utf8): Array("9".utf8)], [])
        state.revision += 100
      }
      try await fixture.mirroring {
        try await fixture.wait { $0.state == .stopped || $0.state == .following }
        #expect(try fixture.table.upstream.status()!.state == .stopped)
        #expect(try fixture.contents == ["a": "1"])
      }
    }
  }

  @Test(arguments: ["cluster", "revision", "term"])
  func anotherStoreIsNoticedAndTakenOnlyWhereAllowed(what: String) async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      fixture.store.commit([("app/b", "2")])
      try await fixture.mirroring { try await fixture.wait(for: .following) }
      fixture.store.state.withLock { state in
        state.values = [Array("app/z".utf8): Array("9".utf8)]
        state.history = []
        switch what {
        case "cluster": state.cluster = 8
        case "revision": state.revision = 2
        default:
          state.term = 2
          state.revision += 100
        }
      }
      let before = try fixture.contents
      let (_, news) = try await fixture.mirroring {
        try await fixture.wait(for: .stopped)
        #expect(try fixture.contents == before)
        #expect(try fixture.table.upstream.status()!.problem.contains("resync"))
      }
      #expect(news.count { if case .stopped = $0 { true } else { false } } == 1)
      // Of a term that went back another look might have told otherwise.
      #expect(news.count == (what == "term" ? 2 : 1))
      // Stopped means stopped: the next one says so too. And where it is allowed, the table becomes the other.
      try await fixture.mirroring { try await fixture.wait(for: .stopped) }
      let (_, taken) = try await fixture.mirroring({ $0.resync = .always }) {
        try await fixture.wait(for: .following)
        #expect(try fixture.contents == ["z": "9"])
      }
      #expect(taken.contains { if case .otherStore = $0 { true } else { false } })
    }
  }

  /// A member that was sent its state as a snapshot tells the term of the last entry that it had, until the next one comes.
  @Test func aMemberThatTellsAnOldTermForAWhileStopsNoMirror() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      let sessions = Counter()
      let (report, news) = try await fixture.mirroring {
        try await fixture.wait(for: .following)
        fixture.store.state.withLock { state in
          state.beforeSession = { [weak store = fixture.store] in
            sessions.increment()
            if sessions.value == 3 { store?.state.withLock { $0.term = 3 } }
          }
          state.term = 2
        }
        try #require(await comesTrue { sessions.value >= 3 })
        let last = fixture.store.commit([("app/a", "2")])
        try await fixture.wait { $0.state == .stopped || $0.revision == last }
        #expect(try fixture.contents == ["a": "2"])
      }
      #expect(report.reads == 1)
      #expect(news.contains { if case .away = $0 { true } else { false } })
      #expect(!news.contains { if case .stopped = $0 { true } else { false } })
    }
  }

  /// The settings are others, too: the whole prefix is to be read, and still not of any store.
  @Test func anotherStoreIsNotTakenBecauseTheSettingsChanged() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      try await fixture.mirroring { try await fixture.wait(for: .following) }
      fixture.store.state.withLock { $0.cluster = 8 }
      fixture.store.commit([("app/a", "other")])
      try await fixture.mirroring({ $0.valueForm = .bytes }) {
        try await fixture.wait { $0.state == .stopped || $0.revision == fixture.store.position.revision }
        #expect(try fixture.contents == ["a": "1"])
      }
      #expect(try fixture.table.upstream.status()!.state == .stopped)
    }
  }

  /// A repair gives keys up of which no event tells.
  @Test(arguments: Table.Variant.allCases)
  func afterARepairEverythingIsRead(variant: Table.Variant) async throws {
    try await MirrorFixture.with(variant) { fixture in
      fixture.store.commit((0..<100).map { ("app/k\($0)", "v") })
      try await fixture.mirroring { try await fixture.wait(for: .following) }
      // Several, since one may be that of the mirror's status.
      try fixture.table.loseWords(4)
      #expect(try fixture.table.repair().isRepaired)
      #expect(try fixture.contents.count < 100)
      let (report, _) = try await fixture.mirroring {
        try await fixture.wait(for: .following)
        #expect(try fixture.contents.count == 100)
      }
      #expect(report.reads == 1)
    }
  }

  @Test func aStoreThatIsAwayIsTriedAgainAndSaid() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      let (report, _) = try await fixture.mirroring {
        try await fixture.wait(for: .following)
        fixture.store.set(isDown: true)
        try await fixture.wait(for: .away)
        #expect(try fixture.contents == ["a": "1"])
        #expect(try fixture.table.upstream.status()!.problem != "")
        fixture.store.set(isDown: false)
        let last = fixture.store.commit([("app/a", "2")])
        try await fixture.wait(for: last)
        try await fixture.wait(for: .following)
        #expect(try fixture.table.upstream.status()!.problem == "")
      }
      #expect(report.sessions == 2)
    }
  }

  @Test func twoMirrorsOfOneTableDoNotRunOverEachOther() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      var second: MirrorReport?
      let (first, _) = try await fixture.mirroring {
        second = try await fixture.mirroring {
          var last: Int64 = 0
          for number in 0..<200 { last = fixture.store.commit([("app/a", "\(number)"), ("app/b", "\(number)")]) }
          try await fixture.wait(for: last)
          #expect(try fixture.contents == ["a": "199", "b": "199"])
        }.report
      }
      // Each revision was applied by one of them; none of them goes back.
      #expect(first.revisions + second!.revisions <= 201)
    }
  }
}
