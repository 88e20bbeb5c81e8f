import SharedTable
import TableMirror
import TableTestSupport
import TestSupport
import Testing

@Suite struct FollowTests {
  @Test(arguments: Table.Variant.allCases)
  func mirrorHoldsWhatTheStoreHoldsBelowThePrefix(variant: Table.Variant) async throws {
    try await MirrorFixture.with(variant) { fixture in
      fixture.store.commit([("app/a", "1"), ("app/b", "2"), ("other/c", "3"), ("app/", "the prefix itself")])
      try await fixture.mirroring {
        try await fixture.wait(for: .following)
        #expect(try fixture.contents == ["a": "1", "b": "2"])
        let last = fixture.store.commit([("app/a", nil), ("app/d", "4")])
        try await fixture.wait(for: last)
        #expect(try fixture.contents == ["b": "2", "d": "4"])
      }
    }
  }

  @Test func eachRevisionIsOneBarrierThatNamesIt() async throws {
    try await MirrorFixture.with { fixture in
      let (report, _) = try await fixture.mirroring({ $0.checkInterval = .seconds(3600) }) {
        try await fixture.wait(for: .following)
        // Whoever looks, whenever, sees two keys that one revision changes alike, and the revision that did it.
        let table = fixture.table
        let reader = TestThread {
          var seen = 0
          while seen < 300 {
            try table.read { view in
              let (x, y) = (try view.get("x", as: String.self), try view.get("y", as: String.self))
              #expect(x == y)
              guard let x, let status = UpstreamStatusProbe.revision(view) else { return }
              #expect(Int64(x)! == status)
              seen = Int(x)!
            }
          }
        }
        for number in 2...300 as ClosedRange<Int64> {
          #expect(fixture.store.commit([("app/x", "\(number)"), ("app/y", "\(number)")]) == number)
        }
        try await fixture.wait(for: 300)
        try reader.join()
      }
      #expect(report.revisions == 299)
    }
  }

  @Test func restartResumesBehindTheRevisionOfTheTable() async throws {
    try await MirrorFixture.with { fixture in
      let first = fixture.store.commit([("app/a", "1")])
      try await fixture.mirroring { try await fixture.wait(for: first) }
      #expect(try fixture.table.upstream.status()?.state == .away)
      let second = fixture.store.commit([("app/b", "2")])
      let third = fixture.store.commit([("app/a", "3")])
      let (report, _) = try await fixture.mirroring { try await fixture.wait(for: third) }
      #expect(report.reads == 0)
      #expect(report.revisions == 2)
      #expect(fixture.store.asked.last == second)
      #expect(try fixture.contents == ["a": "3", "b": "2"])
    }
  }

  @Test func progressAheadOfEventsLosesNone() async throws {
    try await MirrorFixture.with { fixture in
      let first = fixture.store.commit([("app/a", "1")])
      let (report, _) = try await fixture.mirroring({ $0.checkInterval = .seconds(3600) }) {
        await fixture.store.waitForWatch()
        // The store says how far it is, ahead of an event (etcd#15220); then the connection breaks, and the event never came.
        fixture.store.state.withLock { $0.isSilent = true }
        let second = fixture.store.commit([("app/a", "2")])
        fixture.store.pass(10)
        fixture.store.send(WatchAnswer(position: fixture.store.position))
        fixture.store.send(WatchAnswer(position: fixture.store.position))
        fixture.store.state.withLock { $0.isSilent = false }
        fixture.store.breakConnections()
        try await fixture.wait(for: second)
        #expect(fixture.store.asked == [first + 1, first + 1])
        #expect(try fixture.table.get("a", as: String.self) == "2")
      }
      #expect(report.revisions == 1)
    }
  }

  @Test func eventsThatWereSeenAreNotAppliedAgain() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      let (report, _) = try await fixture.mirroring({ $0.checkInterval = .seconds(3600) }) {
        try await fixture.wait(for: .following)
        let second = fixture.store.commit([("app/a", "2")])
        let third = fixture.store.commit([("app/a", "3")])
        try await fixture.wait(for: third)
        let stale = SourceEvent(key: Array("app/a".utf8), value: Array("2".utf8), revision: second)
        fixture.store.send(WatchAnswer(position: fixture.store.position, events: [stale]))
        let last = fixture.store.commit([("app/b", "4")])
        try await fixture.wait(for: last)
        #expect(try fixture.contents == ["a": "3", "b": "4"])
      }
      #expect(report.revisions == 3)
    }
  }

  @Test func aRevisionInFragmentsIsAppliedWholeOrNotAtAll() async throws {
    try await MirrorFixture.with { fixture in
      let (report, _) = try await fixture.mirroring({ $0.checkInterval = .seconds(3600) }) {
        await fixture.store.waitForWatch()
        fixture.store.state.withLock { $0.isSilent = true }
        let number = fixture.store.commit([("app/a", "1"), ("app/b", "2")])
        let (position, events) = fixture.store.state.withLock { ($0.position, $0.history.last!.events) }
        fixture.store.send(WatchAnswer(position: position, events: [events[0]], isFragment: true))
        // Half of it has come: nothing is to be seen, and nothing is left of it when the connection breaks.
        fixture.store.breakConnections()
        try await fixture.wait(for: number)
        #expect(try fixture.contents == ["a": "1", "b": "2"])

        let next = fixture.store.commit([("app/a", "3"), ("app/b", "4")])
        let more = fixture.store.state.withLock { $0.history.last!.events }
        fixture.store.send(WatchAnswer(position: fixture.store.position, events: [more[0]], isFragment: true))
        fixture.store.send(WatchAnswer(position: fixture.store.position, events: [more[1]]))
        try await fixture.wait(for: next)
        #expect(try fixture.contents == ["a": "3", "b": "4"])
      }
      #expect(report.revisions == 2)
    }
  }

  @Test func valuesThatAreNoTextAreBytes() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([(Array("app/t".utf8), Array("text".utf8)), (Array("app/b".utf8), [0xff, 0x00])])
      try await fixture.mirroring {
        try await fixture.wait(for: .following)
        #expect(try fixture.table.get("t", as: String.self) == "text")
        #expect(try fixture.table.get("b", as: [UInt8].self) == [0xff, 0x00])
      }
      // Another form: what is there is not what is asked for, and is read anew.
      let (report, _) = try await fixture.mirroring({ $0.valueForm = .bytes }) {
        try await fixture.wait { $0.state == .following && $0.contents.hasPrefix("bytes") }
      }
      #expect(try fixture.table.get("t", as: [UInt8].self) == Array("text".utf8))
      #expect(report.reads == 1)
    }
  }

  /// What the table holds is not what the new settings ask for, also for a mirror that begins with these settings after another one with
  /// them found the store away.
  @Test func newSettingsReadAnewAfterAMirrorThatFoundTheStoreAway() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      try await fixture.mirroring { try await fixture.wait(for: .following) }
      fixture.store.set(isDown: true)
      try await fixture.mirroring({ $0.valueForm = .bytes }) {
        try await fixture.wait { $0.state == .away && $0.contents.hasPrefix("bytes") }
      }
      fixture.store.set(isDown: false)
      let (report, _) = try await fixture.mirroring({ $0.valueForm = .bytes }) {
        try await fixture.wait(for: .following)
      }
      #expect(report.reads == 1)
      #expect(try fixture.table.get("a", as: [UInt8].self) == Array("1".utf8))
      let (next, _) = try await fixture.mirroring({ $0.valueForm = .bytes }) {
        try await fixture.wait(for: .following)
      }
      #expect(next.reads == 0)
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func writesOfParticipantsAreRefused(variant: Table.Variant) async throws {
    try await MirrorFixture.with(variant) { fixture in
      fixture.store.commit([("app/a", "1")])
      try await fixture.mirroring { try await fixture.wait(for: .following) }
      let table = try Table.open(fixture.table.name)
      #expect(table.isMirror)
      let before = table.version
      #expect(code { try table.set("a", "2") } == .mirrored)
      #expect(code { try table.remove("a") } == .mirrored)
      #expect(code { try table.increment("n") } == .mirrored)
      #expect(code { try table.barrier { try $0.set("a", "2") } } == .mirrored)
      #expect(code { try table.barrier(keys: ["a"]) { try $0.set("a", "2") } } == .mirrored)
      #expect(
        code { try BarrierQueue(in: table, label: "test.mirror").sync(flags: .barrier) { try $0.set("a", "2") } }
          == .mirrored)
      #expect(code { try SharedValue<Int>("v", in: table, default: 0).set(1) } == .mirrored)
      #expect(table.version == before)
      #expect(try fixture.contents == ["a": "1"])
    }
  }

  @Test func aTableOfItsOwnCannotBeMirroredInto() throws {
    try withTable(.rcu) { table in
      #expect(!table.isMirror)
      #expect(try table.upstream.status() == nil)
      try table.set("a", "1")
      let refusal = try #require(error { try table.mirrorBarrier { _ in } })
      #expect(refusal.code == .unsupported)
      let advice = "give the table an 'upstream' in shmd's configuration, and make it anew"
      #expect(refusal.message.hasSuffix("is not supported; \(advice)"))
    }
  }
}

/// The revision that a view's table says it is of.
enum UpstreamStatusProbe {
  static func revision(_ view: borrowing ReadView) -> Int64? {
    (try? view.get(Table.Upstream.key, as: String.self)).flatMap { UpstreamStatus(text: $0)?.revision }
  }
}
