import SharedTable
import TableEngine
import TableMirror
import TableTestSupport
import TestSupport
import Testing

@Suite struct RecoveryTests {
  @Test(arguments: Table.Variant.allCases)
  func compactionWhileAwayIsADifferenceInOneBarrier(variant: Table.Variant) async throws {
    try await MirrorCorner.with(variant) { corner in
      corner.store.commit((0..<200).map { ("app/k\($0)", "same") })
      try await corner.mirroring { try await corner.wait(for: .following) }
      let untouched = try corner.table.entry(forKey: "k7")!.version
      corner.store.commit([("app/k0", "changed"), ("app/k1", nil), ("app/new", "1")])
      corner.store.commit([("app/k2", "passed")])
      corner.store.commit([("app/k2", nil)])
      corner.store.compact()
      let last = corner.store.position.revision
      let table = corner.table
      let isOver = Counter()
      let (report, _) = try await corner.mirroring {
        // Never an empty or a half table: 200 keys before, 199 after, and nothing in between.
        let reader = TestThread {
          var counts: Set<Int> = []
          while isOver.value == 0 {
            counts.insert((try? table.read { try $0.keys(prefix: "k").count }) ?? -1)
          }
          return counts
        }
        try await corner.wait(for: last)
        isOver.increment()
        #expect(try reader.join().isSubset(of: [200, 198]))
      }
      #expect(report.reads == 1)
      #expect(report.revisions == 0)
      #expect(try corner.table.get("k0", as: String.self) == "changed")
      #expect(try corner.contents.count == 199)
      #expect(try corner.table.entry(forKey: "k7")!.version == untouched)
    }
  }

  @Test func compactionBetweenTwoPagesBeginsAnew() async throws {
    try await MirrorCorner.with { corner in
      corner.store.commit((0..<500).map { ("app/k\($0)", "v") })
      corner.store.state.withLock { state in
        state.beforePage = { [weak store = corner.store] count in
          guard count == 2, let store else { return }
          store.commit([("app/late", "1")])
          store.compact()
        }
      }
      let (report, _) = try await corner.mirroring {
        try await corner.wait(for: .following)
        #expect(try corner.contents.count == 501)
      }
      #expect(report.reads == 1)
    }
  }

  @Test(arguments: [\FakeStore.State.largestPage, \FakeStore.State.largestPageInTime])
  func pagesShrinkWhereValuesAreLarge(for bound: WritableKeyPath<FakeStore.State, Int> & Sendable) async throws {
    try await MirrorCorner.with { corner in
      corner.store.commit((0..<300).map { ("app/k\($0)", String(repeating: "x", count: 100)) })
      corner.store.state.withLock { $0[keyPath: bound] = 250 }
      try await corner.mirroring {
        try await corner.wait(for: .following)
        #expect(try corner.contents.count == 300)
      }
    }
  }

  @Test(arguments: ["cluster", "revision", "term"])
  func anotherStoreIsNoticedAndTakenOnlyWhereAllowed(what: String) async throws {
    try await MirrorCorner.with { corner in
      corner.store.commit([("app/a", "1")])
      corner.store.commit([("app/b", "2")])
      try await corner.mirroring { try await corner.wait(for: .following) }
      corner.store.state.withLock { state in
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
      let before = try corner.contents
      let (_, news) = try await corner.mirroring {
        try await corner.wait(for: .stopped)
        #expect(try corner.contents == before)
        #expect(try corner.table.upstream.status()!.problem.contains("resync"))
      }
      #expect(news.count == 1)
      // Stopped means stopped: the next one says so too. And where it is allowed, the table becomes the other.
      try await corner.mirroring { try await corner.wait(for: .stopped) }
      let (_, taken) = try await corner.mirroring({ $0.resync = .always }) {
        try await corner.wait(for: .following)
        #expect(try corner.contents == ["z": "9"])
      }
      #expect(taken.contains { if case .otherStore = $0 { true } else { false } })
    }
  }

  /// The settings are others, too: the whole prefix is to be read, and still not of any store.
  @Test func anotherStoreIsNotTakenBecauseTheSettingsChanged() async throws {
    try await MirrorCorner.with { corner in
      corner.store.commit([("app/a", "1")])
      try await corner.mirroring { try await corner.wait(for: .following) }
      corner.store.state.withLock { $0.cluster = 8 }
      corner.store.commit([("app/a", "other")])
      try await corner.mirroring({ $0.valueForm = .bytes }) {
        try await corner.wait { $0.state == .stopped || $0.revision == corner.store.position.revision }
        #expect(try corner.contents == ["a": "1"])
      }
      #expect(try corner.table.upstream.status()!.state == .stopped)
    }
  }

  /// A repair gives keys up of which no event tells.
  @Test(arguments: Table.Variant.allCases)
  func afterARepairEverythingIsRead(variant: Table.Variant) async throws {
    try await MirrorCorner.with(variant) { corner in
      corner.store.commit((0..<100).map { ("app/k\($0)", "v") })
      try await corner.mirroring { try await corner.wait(for: .following) }
      // The first live word of the first sub-table leads nowhere from now on.
      let data = corner.table.segment.data
      let subTable = Int(data.loadRelaxed(DataLayout.root) & (1 << 48 - 1))
      let place = try #require(
        stride(from: subTable, to: subTable + 16384, by: 8).first { data.loadRelaxed($0) & (1 << 48 - 1) != 0 })
      data.storeRelaxed(place, data.loadRelaxed(place) | 0xffff_ffff_fff0)
      #expect(try corner.table.repair().isRepaired)
      #expect(try corner.contents.count < 100)
      let (report, _) = try await corner.mirroring {
        try await corner.wait(for: .following)
        #expect(try corner.contents.count == 100)
      }
      #expect(report.reads == 1)
    }
  }

  @Test func aStoreThatIsAwayIsTriedAgainAndSaid() async throws {
    try await MirrorCorner.with { corner in
      corner.store.commit([("app/a", "1")])
      let (report, _) = try await corner.mirroring {
        try await corner.wait(for: .following)
        corner.store.set(isDown: true)
        try await corner.wait(for: .away)
        #expect(try corner.contents == ["a": "1"])
        #expect(try corner.table.upstream.status()!.problem != "")
        corner.store.set(isDown: false)
        let last = corner.store.commit([("app/a", "2")])
        try await corner.wait(for: last)
        try await corner.wait(for: .following)
        #expect(try corner.table.upstream.status()!.problem == "")
      }
      #expect(report.sessions == 2)
    }
  }

  @Test func twoMirrorsOfOneTableDoNotRunOverEachOther() async throws {
    try await MirrorCorner.with { corner in
      corner.store.commit([("app/a", "1")])
      var second: MirrorReport?
      let (first, _) = try await corner.mirroring {
        second = try await corner.mirroring {
          var last: Int64 = 0
          for number in 0..<200 { last = corner.store.commit([("app/a", "\(number)"), ("app/b", "\(number)")]) }
          try await corner.wait(for: last)
          #expect(try corner.contents == ["a": "199", "b": "199"])
        }.report
      }
      // Each revision was applied by one of them; none of them goes back.
      #expect(first.revisions + second!.revisions <= 201)
    }
  }
}
