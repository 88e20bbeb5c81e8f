import SharedTable
@testable import TableMirror
import TableTestSupport
import TestSupport
import Testing

/// Keys with leases, of a store whose leases end only where a test removes their keys.
@Suite struct LeaseTests {
  /// A check that does not come again while a test runs.
  private static let never = Duration.seconds(3600)

  private func expiring(_ check: Duration) -> (inout MirrorSettings) -> Void {
    { settings in (settings.leases, settings.checkInterval) = (.expire, check) }
  }

  @Test(arguments: Table.Variant.allCases)
  func whereNobodyFollowsAKeyGoesWithItsLeaseAndWhoFollowsNextBringsItBack(variant: Table.Variant) async throws {
    try await MirrorFixture.with(variant) { fixture in
      fixture.store.commit([("app/own", "1")])
      fixture.store.commit(["app/a", "app/b"], lease: 5)
      fixture.store.set(lease: 5, left: .milliseconds(50))
      try await fixture.mirroring(expiring(.milliseconds(10))) {
        try await fixture.wait(for: .following)
        try await fixture.waitUntil { try $0.expiry("a") != nil && $0.expiry("b") != nil }
      }
      try await fixture.waitUntil { try $0.contents == ["own": "1"] }
      #expect(try fixture.expiry("own") == nil)
      // The lease lives, and a key of it was removed by hand.
      fixture.store.set(lease: 5, left: .seconds(600))
      let last = fixture.store.commit([("app/b", nil)])
      let (report, _) = try await fixture.mirroring(expiring(Self.never)) {
        try await fixture.wait(for: last)
        try await fixture.wait(for: .following)
        #expect(try fixture.contents == ["own": "1", "a": "v"])
        try await fixture.waitUntil { try $0.expiry("a") != nil }
      }
      #expect(report.reads == 1)
      #expect(try fixture.table.upstream.status()!.revision == last)
    }
  }

  @Test func whileTheStoreIsAwayAKeyGoesWithItsLeaseOnlyWhereThatIsWanted() async throws {
    for leases in MirrorSettings.Leases.allCases {
      try await MirrorFixture.with { fixture in
        fixture.store.commit(["app/a"], lease: 5)
        fixture.store.set(lease: 5, left: .milliseconds(50))
        try await fixture.mirroring({ ($0.leases, $0.checkInterval) = (leases, .milliseconds(10)) }) {
          try await fixture.wait(for: .following)
          if leases == .expire { try await fixture.waitUntil { try $0.expiry("a") != nil } }
          fixture.store.set(isDown: true)
          try await fixture.wait(for: .away)
          if leases == .expire {
            try await fixture.waitUntil { try $0.contents == [:] }
          } else {
            #expect(try fixture.expiry("a") == nil)
            #expect(fixture.store.state.withLock(\.leasesAsked).isEmpty)
          }
          fixture.store.set(isDown: false)
          fixture.store.set(lease: 5, left: .seconds(600))
          try await fixture.waitUntil { try $0.contents == ["a": "v"] }
        }
      }
    }
  }

  /// However near the lease's end is, and whether the store says anything of it or not.
  @Test(arguments: [false, true])
  func aKeyStaysAsLongAsTheStoreIsFollowed(isSilent: Bool) async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit(["app/a"], lease: 5)
      fixture.store.set(lease: 5, left: isSilent ? .milliseconds(10) : nil)
      try await fixture.mirroring(expiring(.seconds(10))) {
        try await fixture.waitUntil { try $0.expiry("a") != nil }
        fixture.store.state.withLock { $0.hidesLeases = isSilent }
        let first = try #require(try fixture.expiry("a"))
        // A busy machine may keep the mirror from its next look for seconds: the grace is three times as long as the time between two.
        try await fixture.waitUntil { fixture in
          let expiry = try fixture.expiry("a")
          #expect(expiry != nil)
          return (expiry ?? .max) > first + 5_000_000_000
        }
        #expect(try fixture.contents == ["a": "v"])
        let last = fixture.store.commit([("app/a", nil)])
        try await fixture.wait(for: last)
        #expect(try fixture.contents == [:])
        fixture.store.state.withLock { $0.hidesLeases = false }
      }
    }
  }

  /// As a leader that was just elected.
  @Test func aLeaseOfWhichTheStoreCannotTellIsAskedForAgain() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit(["app/a"], lease: 5)
      fixture.store.set(lease: 5, left: .seconds(600))
      fixture.store.state.withLock { $0.leasesUntold[5] = 3 }
      try await fixture.mirroring(expiring(.milliseconds(10))) {
        try await fixture.waitUntil { try $0.expiry("a") != nil }
        #expect(fixture.store.state.withLock(\.leasesAsked).count == 4)
      }
    }
  }

  /// Its key has the value that it had with the other.
  @Test func aShorterLeaseThatTookAKeyOverMeanwhileCounts() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit(["app/a"], lease: 5)
      fixture.store.set(lease: 5, left: .seconds(3600))
      try await fixture.mirroring(expiring(.milliseconds(10))) {
        try await fixture.waitUntil { try $0.expiry("a") != nil }
      }
      let first = try #require(try fixture.expiry("a"))
      fixture.store.commit(["app/a"], lease: 6)
      fixture.store.set(lease: 6, left: .seconds(20))
      try await fixture.mirroring(expiring(.milliseconds(10))) {
        try await fixture.waitUntil { try #require(try $0.expiry("a")) < first - 1_000_000_000_000 }
      }
    }
  }

  /// The lease's only key goes over to another lease in the revision that gives the lease a new key.
  @Test func aKeyThatTakesTheLeaseOfAnotherStaysAsLongAsTheStoreIsFollowed() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit(["app/a"], lease: 5)
      fixture.store.set(lease: 5, left: .milliseconds(10))
      try await fixture.mirroring(expiring(.seconds(10))) {
        try await fixture.waitUntil { try $0.expiry("a") != nil }
        fixture.store.state.withLock { $0.hidesLeases = true }
        // The next look finds the store at the events' revision.
        fixture.store.pass(1)
        let next = fixture.store.position
        let keys = [("app/a", 6), ("app/b", 5)] as [(String, Int64)]
        fixture.store.send(
          WatchAnswer(
            position: next,
            events: keys.map { .init(key: Array($0.utf8), value: [1], revision: next.revision, lease: $1) }))
        try await fixture.wait(for: next.revision)
        let first = try #require(try fixture.expiry("b"))
        try await fixture.waitUntil { try #require(try $0.expiry("b")) > first }
        fixture.store.state.withLock { $0.hidesLeases = false }
      }
    }
  }

  @Test func aLeaseThatWasKeptAliveMovesItsKeysInOneBarrierOfTheSameRevision() async throws {
    try await MirrorFixture.with { fixture in
      let revision = fixture.store.commit(["app/a", "app/b"], lease: 5)
      fixture.store.set(lease: 5, left: .milliseconds(300))
      try await fixture.mirroring(expiring(.seconds(1))) {
        try await fixture.waitUntil { try $0.expiry("a") != nil }
        let first = try #require(try fixture.expiry("a"))
        fixture.store.set(lease: 5, left: .seconds(600))
        try await fixture.waitUntil { try $0.expiry("a") ?? 0 > first + 500_000_000_000 }
        try fixture.table.read { view in
          let (a, b) = (try view.entry(forKey: "a")!, try view.entry(forKey: "b")!)
          #expect(a.version == b.version && a.expiry == b.expiry)
          #expect(UpstreamStatusProbe.revision(view) == revision)
        }
      }
    }
  }

  @Test func aKeyOfALeaseThatIsKnownExpiresFromItsRevisionOnAndWithoutALeaseNot() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit(["app/a"], lease: 5)
      fixture.store.commit(["app/b"], lease: 6)
      fixture.store.set(lease: 5, left: .seconds(60))
      fixture.store.set(lease: 6, left: .seconds(600))
      try await fixture.mirroring(expiring(Self.never)) {
        try await fixture.waitUntil { try $0.expiry("a") != nil && $0.expiry("b") != nil }
        let (five, six) = (try fixture.expiry("a"), try fixture.expiry("b"))
        #expect(five! + 500_000_000_000 < six!)
        try await fixture.wait(for: fixture.store.commit(["app/c"], lease: 5))
        #expect(try fixture.expiry("c") == five)
        try await fixture.wait(for: fixture.store.commit(["app/a"], lease: 6))
        #expect(try fixture.expiry("a") == six)
        try await fixture.wait(for: fixture.store.commit([("app/a", "own")]))
        #expect(try fixture.expiry("a") == nil)
        #expect(try fixture.contents == ["a": "own", "b": "v", "c": "v"])
      }
    }
  }

  @Test func aLeaseOfManyKeysMovesThemInBoundedBarriers() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit((0..<5000).map { "app/k\($0)" }, lease: 5)
      fixture.store.set(lease: 5, left: .seconds(600))
      try await fixture.mirroring(expiring(Self.never)) {
        try await fixture.waitUntil { fixture in
          try (0..<5000).allSatisfy { try fixture.expiry("k\($0)") != nil }
        }
        let entries = try fixture.table.read { view in try (0..<5000).map { try view.entry(forKey: "k\($0)")! } }
        #expect(Set(entries.map(\.expiry)).count == 1)
        let perBarrier = Dictionary(grouping: entries, by: \.version).mapValues(\.count)
        #expect(perBarrier.count >= 5 && perBarrier.values.max()! <= 1024)
      }
    }
  }

  @Test func ofManyLeasesABoundedNumberIsAskedForAtEachCheck() async throws {
    try await MirrorFixture.with { fixture in
      for lease in 1...3000 as ClosedRange<Int64> {
        fixture.store.commit(["app/k\(lease)"], lease: lease)
        fixture.store.set(lease: lease, left: .seconds(6000))
      }
      try await fixture.mirroring(expiring(Self.never)) {
        try await fixture.waitUntil { try $0.expiringKeys == 1024 }
        let (asked, most) = fixture.store.state.withLock { ($0.leasesAsked, $0.mostAsksAtOnce) }
        #expect(asked.count == 1024 && Set(asked).count == 1024)
        #expect(most <= 32)
      }
      try await fixture.mirroring(expiring(.milliseconds(50))) {
        try await fixture.waitUntil { try $0.expiringKeys == 3000 }
      }
    }
  }

  @Test func aTableThatIsNearlyFullMovesFewerAtATime() async throws {
    try await MirrorFixture.with(capacityBytes: 1 << 20) { fixture in
      let keys = (0..<70).map { "app/k\($0)" }
      let value = String(repeating: "x", count: 8000)
      fixture.store.commit(keys.map { ($0, value) })
      fixture.store.state.withLock { state in for key in keys { state.leaseOf[Array(key.utf8)] = 5 } }
      fixture.store.set(lease: 5, left: .seconds(600))
      try await fixture.mirroring(expiring(.milliseconds(50))) {
        try await fixture.wait(for: .following)
        try await fixture.waitUntil { try $0.expiringKeys == 70 }
        #expect(try fixture.table.upstream.status()!.state == .following)
        // All beside what they were do not fit.
        #expect(
          Set(
            try fixture.table.read { view in try keys.map { try view.entry(forKey: String($0.dropFirst(4)))!.version } }
          ).count
            > 1)
      }
    }
  }

  @Test func aWriteThatWouldKeepAnExpiryIsRefusedAndOneThatEndsItIsNot() async throws {
    try await MirroredHost.with(leases: .expire) { host in
      let fixture = host.fixture
      fixture.store.set(lease: 5, left: .seconds(600))
      fixture.store.commit(["app/n"], lease: 5, value: "1")
      try await fixture.waitUntil { try $0.expiry("n") != nil }
      for command in ["INCR n", "INCRBYFLOAT n 1", "APPEND n 2", "SET n 2 KEEPTTL", "RENAME n m"] {
        let answer = try await host.answer(command)
        #expect(answer.hasPrefix("-ERR table ") && answer.contains("leases are not served"), "\(command): \(answer)")
      }
      #expect(fixture.store.value("app/n") == "1")
      try await host.expect(["SET n 2": "+OK", "TTL n": ":-1", "INCR n": ":3"])
    }
  }

  @Test func anotherPolicyHoldsForAllKeysFromItsSessionOn() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit(["app/a"], lease: 5)
      fixture.store.set(lease: 5, left: .seconds(600))
      try await fixture.mirroring { try await fixture.wait(for: .following) }
      #expect(try fixture.expiry("a") == nil)
      try await fixture.mirroring(expiring(.milliseconds(10))) {
        try await fixture.waitUntil { try $0.expiry("a") != nil }
      }
      #expect(MirrorContents(try fixture.table.upstream.status()!.contents)?.leases == .expire)
      let (report, _) = try await fixture.mirroring {
        try await fixture.wait { $0.contents == "string app/" && $0.state == .following }
      }
      #expect(report.reads == 1)
      #expect(try fixture.expiry("a") == nil && fixture.contents == ["a": "v"])
    }
  }
}

extension MirrorFixture {
  /// When a key ends in the table; nil if it does not, or is not there.
  fileprivate func expiry(_ key: String) throws -> UInt64? { try table.entry(forKey: key)?.expiry }

  fileprivate var expiringKeys: Int {
    get throws {
      try table.read { view in try view.keys(prefix: "k").filter { try view.entry(forKey: $0)?.expiry != nil }.count }
    }
  }

  /// Waits until something is so, which no commit may tell: a key that expires is none.
  fileprivate func waitUntil(
    _ isSo: (MirrorFixture) throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let hasComeTrue = try await comesTrue { try isSo(self) }
    try #require(hasComeTrue, sourceLocation: sourceLocation)
  }
}
