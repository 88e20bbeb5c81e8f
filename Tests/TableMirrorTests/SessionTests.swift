import Glibc
import SharedTable
import Synchronization
@testable import TableMirror
import TableTestSupport
import TestSupport
import Testing

/// Where sessions begin and end: what is in the way passes, or does not, and how soon the next is tried.
@Suite struct SessionTests {
  @Test func aTableThatIsHeldAtTheBeginIsWaitedFor() async throws {
    try await MirrorFixture.with(.rwlock) { fixture in
      let first = fixture.store.commit([("app/a", "1")])
      let (held, isOver) = (Counter(), Counter())
      let holder = try Table.open(fixture.table.name)
      let thread = TestThread {
        try holder.mirrorBarrier { _ in
          held.increment()
          while isOver.value == 0 { usleep(500) }
        }
      }
      defer { isOver.increment() }
      try #require(await comesTrue(within: .seconds(600)) { held.value > 0 })
      let (news, continuation) = AsyncStream<MirrorNews>.makeStream()
      var impatient = fixture
      impatient.table = try Table.open(fixture.table.name, timeout: .milliseconds(1))
      try await impatient.mirroring(hear: { continuation.yield($0) }) {
        // Said once, whichever it is: that it waits, or that it has given up.
        for await item in news {
          if case .away(let problem) = item, problem.contains("waits for the table") { break }
          Issue.record("\(item)")
          break
        }
        isOver.increment()
        try thread.join()
        try await fixture.wait(for: first)
        #expect(try fixture.contents == ["a": "1"])
      }
    }
  }

  @Test func aMirrorThatIsAwayDoesNotClaimToFollow() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      try await fixture.mirroring { try await fixture.wait(for: .following) }
      // Whoever mirrored was killed while it followed: so says the table.
      var replica = try TableReplica(fixture.table, fixture.settings)
      try replica.note(.following)
      let states = Mutex<[UpstreamStatus.State]>([])
      let (news, continuation) = AsyncStream<MirrorNews>.makeStream()
      let mirror = Mirror(fixture.table, fixture.settings, source: fixture.store) { continuation.yield($0) }
      fixture.store.state.withLock { $0.beforeSession = { states.withLock { $0.append(mirror.report.state) } } }
      fixture.store.set(isDown: true)
      let task = Task { await mirror.run() }
      for await _ in news { break }
      task.cancel()
      await task.value
      fixture.store.state.withLock { $0.beforeSession = nil }
      let all = states.withLock { $0 }
      #expect(!all.isEmpty && all.allSatisfy { $0 == .away })
      #expect(mirror.report.revision == 2)
    }
  }

  /// Whoever watches the mirror learns from it how far and how old the table is, and need not read that.
  @Test func aReportSaysWhatTheTableSays() async throws {
    try await MirrorFixture.with { fixture in
      let first = fixture.store.commit([("app/a", "1")])
      let (report, _) = try await fixture.mirroring {
        try await fixture.wait(for: first)
        let read = try #require(try fixture.table.upstream.status())
        try await fixture.wait { $0.asOf > read.asOf }
      }
      #expect(report.status != nil)
      #expect(report.status == (try fixture.table.upstream.status()))
    }
  }

  /// A store that is looked at, and ends the watch at once, is not asked again and again at full speed.
  @Test func aStoreThatRefusesTheWatchIsTriedMoreAndMoreSeldom() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      let begins = Mutex<[ContinuousClock.Instant]>([])
      fixture.store.state.withLock { state in
        state.refusesWatches = true
        state.beforeSession = { begins.withLock { $0.append(.now) } }
      }
      try await fixture.mirroring({ $0.backOff = BackOff(shortest: .milliseconds(1), longest: .seconds(3600)) }) {
        let isEnough = await comesTrue { begins.withLock { $0.count } >= 9 }
        #expect(isEnough)
      }
      let all = begins.withLock { $0 }
      // Half of 1, 2, 4 ... 128 ms at least.
      #expect(all[8] - all[0] >= .microseconds(127_500))
    }
  }

  @Test func aStoreThatBecomesAnotherInMidSessionIsReadAnew() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      let (report, news) = try await fixture.mirroring({ $0.resync = .always }) {
        try await fixture.wait(for: .following)
        fixture.store.state.withLock { state in
          state.values = [Array("app/z".utf8): Array("9".utf8)]
          state.history = []
          state.term = 2
          state.revision += 100
        }
        try await fixture.wait { $0.revision > 100 && $0.state == .following }
        #expect(try fixture.contents == ["z": "9"])
      }
      #expect(report.reads == 2)
      #expect(news.count { if case .otherStore = $0 { true } else { false } } == 1)
    }
  }

  /// What the table says of itself is cut: the same trouble is told once all the same.
  @Test func aLongProblemIsSaidOnce() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      try await fixture.mirroring { try await fixture.wait(for: .following) }
      let sessions = Counter()
      fixture.store.state.withLock { state in
        state.reasonToBeDown = String(repeating: "unreachable ", count: 40)
        state.refusesLooks = true
        state.beforeSession = { sessions.increment() }
      }
      let (_, news) = try await fixture.mirroring {
        let isEnough = await comesTrue { sessions.value >= 10 }
        #expect(isEnough)
      }
      #expect(news.count == 1)
    }
  }

  @Test func aLongProblemIsWrittenOnce() async throws {
    try await MirrorFixture.with { fixture in
      let problem = String(repeating: "unreachable ", count: 40)
      var replica = try TableReplica(fixture.table, fixture.settings)
      try replica.note(.away, problem)
      let version = try #require(try fixture.table.entry(forKey: Table.Upstream.key)).version
      replica = try TableReplica(fixture.table, fixture.settings)
      try replica.note(.away, problem)
      #expect(try fixture.table.entry(forKey: Table.Upstream.key)?.version == version)
    }
  }
}
