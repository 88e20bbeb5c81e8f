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
    try await MirrorCorner.with(variant) { corner in
      corner.store.commit([("app/own", "1")])
      corner.store.commit(["app/a", "app/b"], lease: 5)
      corner.store.set(lease: 5, left: .milliseconds(50))
      try await corner.mirroring(expiring(.milliseconds(10))) {
        try await corner.wait(for: .following)
        try await corner.waitUntil { try $0.expiry("a") != nil && $0.expiry("b") != nil }
      }
      try await corner.waitUntil { try $0.contents == ["own": "1"] }
      #expect(try corner.expiry("own") == nil)
      // The lease lives, and a key of it was removed by hand.
      corner.store.set(lease: 5, left: .seconds(600))
      let last = corner.store.commit([("app/b", nil)])
      let (report, _) = try await corner.mirroring(expiring(Self.never)) {
        try await corner.wait(for: last)
        try await corner.wait(for: .following)
        #expect(try corner.contents == ["own": "1", "a": "v"])
        try await corner.waitUntil { try $0.expiry("a") != nil }
      }
      #expect(report.reads == 1)
      #expect(try corner.table.upstream.status()!.revision == last)
    }
  }

  @Test func whileTheStoreIsAwayAKeyGoesWithItsLeaseOnlyWhereThatIsWanted() async throws {
    for leases in MirrorSettings.Leases.allCases {
      try await MirrorCorner.with { corner in
        corner.store.commit(["app/a"], lease: 5)
        corner.store.set(lease: 5, left: .milliseconds(50))
        try await corner.mirroring({ ($0.leases, $0.checkInterval) = (leases, .milliseconds(10)) }) {
          try await corner.wait(for: .following)
          if leases == .expire { try await corner.waitUntil { try $0.expiry("a") != nil } }
          corner.store.set(isDown: true)
          try await corner.wait(for: .away)
          if leases == .expire {
            try await corner.waitUntil { try $0.contents == [:] }
          } else {
            #expect(try corner.expiry("a") == nil)
            #expect(corner.store.state.withLock(\.leasesAsked).isEmpty)
          }
          corner.store.set(isDown: false)
          corner.store.set(lease: 5, left: .seconds(600))
          try await corner.waitUntil { try $0.contents == ["a": "v"] }
        }
      }
    }
  }

  /// However near the lease's end is, and whether the store says anything of it or not.
  @Test(arguments: [false, true])
  func aKeyStaysAsLongAsTheStoreIsFollowed(isSilent: Bool) async throws {
    try await MirrorCorner.with { corner in
      corner.store.commit(["app/a"], lease: 5)
      corner.store.set(lease: 5, left: isSilent ? .milliseconds(10) : nil)
      try await corner.mirroring(expiring(.seconds(4))) {
        try await corner.waitUntil { try $0.expiry("a") != nil }
        corner.store.state.withLock { $0.hidesLeases = isSilent }
        let first = try #require(try corner.expiry("a"))
        // Longer than the grace, after which it would be gone.
        try await corner.waitUntil { corner in
          let expiry = try corner.expiry("a")
          #expect(expiry != nil)
          return (expiry ?? .max) > first + 5_000_000_000
        }
        #expect(try corner.contents == ["a": "v"])
        let last = corner.store.commit([("app/a", nil)])
        try await corner.wait(for: last)
        #expect(try corner.contents == [:])
        corner.store.state.withLock { $0.hidesLeases = false }
      }
    }
  }

  @Test func aLeaseThatWasKeptAliveMovesItsKeysInOneBarrierOfTheSameRevision() async throws {
    try await MirrorCorner.with { corner in
      let revision = corner.store.commit(["app/a", "app/b"], lease: 5)
      corner.store.set(lease: 5, left: .milliseconds(300))
      try await corner.mirroring(expiring(.seconds(1))) {
        try await corner.waitUntil { try $0.expiry("a") != nil }
        let first = try #require(try corner.expiry("a"))
        corner.store.set(lease: 5, left: .seconds(600))
        try await corner.waitUntil { try $0.expiry("a") ?? 0 > first + 500_000_000_000 }
        try corner.table.read { view in
          let (a, b) = (try view.entry(forKey: "a")!, try view.entry(forKey: "b")!)
          #expect(a.version == b.version && a.expiry == b.expiry)
          #expect(UpstreamStatusProbe.revision(view) == revision)
        }
      }
    }
  }

  @Test func aKeyOfALeaseThatIsKnownExpiresFromItsRevisionOnAndWithoutALeaseNot() async throws {
    try await MirrorCorner.with { corner in
      corner.store.commit(["app/a"], lease: 5)
      corner.store.commit(["app/b"], lease: 6)
      corner.store.set(lease: 5, left: .seconds(60))
      corner.store.set(lease: 6, left: .seconds(600))
      try await corner.mirroring(expiring(Self.never)) {
        try await corner.waitUntil { try $0.expiry("a") != nil && $0.expiry("b") != nil }
        let (five, six) = (try corner.expiry("a"), try corner.expiry("b"))
        #expect(five! + 500_000_000_000 < six!)
        try await corner.wait(for: corner.store.commit(["app/c"], lease: 5))
        #expect(try corner.expiry("c") == five)
        try await corner.wait(for: corner.store.commit(["app/a"], lease: 6))
        #expect(try corner.expiry("a") == six)
        try await corner.wait(for: corner.store.commit([("app/a", "own")]))
        #expect(try corner.expiry("a") == nil)
        #expect(try corner.contents == ["a": "own", "b": "v", "c": "v"])
      }
    }
  }

  @Test func aLeaseOfManyKeysMovesThemInBoundedBarriers() async throws {
    try await MirrorCorner.with { corner in
      corner.store.commit((0..<5000).map { "app/k\($0)" }, lease: 5)
      corner.store.set(lease: 5, left: .seconds(600))
      try await corner.mirroring(expiring(Self.never)) {
        try await corner.waitUntil { corner in
          try (0..<5000).allSatisfy { try corner.expiry("k\($0)") != nil }
        }
        let entries = try corner.table.read { view in try (0..<5000).map { try view.entry(forKey: "k\($0)")! } }
        #expect(Set(entries.map(\.expiry)).count == 1)
        let perBarrier = Dictionary(grouping: entries, by: \.version).mapValues(\.count)
        #expect(perBarrier.count >= 5 && perBarrier.values.max()! <= 1024)
      }
    }
  }

  @Test func ofManyLeasesABoundedNumberIsAskedForAtEachCheck() async throws {
    try await MirrorCorner.with { corner in
      for lease in 1...3000 as ClosedRange<Int64> {
        corner.store.commit(["app/k\(lease)"], lease: lease)
        corner.store.set(lease: lease, left: .seconds(6000))
      }
      try await corner.mirroring(expiring(Self.never)) {
        try await corner.waitUntil { try $0.expiringKeys == 1024 }
        let (asked, most) = corner.store.state.withLock { ($0.leasesAsked, $0.mostAsksAtOnce) }
        #expect(asked.count == 1024 && Set(asked).count == 1024)
        #expect(most <= 32)
      }
      try await corner.mirroring(expiring(.milliseconds(50))) {
        try await corner.waitUntil { try $0.expiringKeys == 3000 }
      }
    }
  }

  @Test func aTableThatIsNearlyFullMovesFewerAtATime() async throws {
    try await MirrorCorner.with(capacityBytes: 1 << 20) { corner in
      let keys = (0..<70).map { "app/k\($0)" }
      let value = String(repeating: "x", count: 8000)
      corner.store.commit(keys.map { ($0, value) })
      corner.store.state.withLock { state in for key in keys { state.leaseOf[Array(key.utf8)] = 5 } }
      corner.store.set(lease: 5, left: .seconds(600))
      try await corner.mirroring(expiring(.milliseconds(50))) {
        try await corner.wait(for: .following)
        try await corner.waitUntil { try $0.expiringKeys == 70 }
        #expect(try corner.table.upstream.status()!.state == .following)
        // All beside what they were do not fit.
        #expect(
          Set(
            try corner.table.read { view in try keys.map { try view.entry(forKey: String($0.dropFirst(4)))!.version } }
          ).count
            > 1)
      }
    }
  }

  @Test func aWriteThatWouldKeepAnExpiryIsRefusedAndOneThatEndsItIsNot() async throws {
    try await MirroredHost.with(leases: .expire) { host in
      let corner = host.corner
      corner.store.set(lease: 5, left: .seconds(600))
      corner.store.commit(["app/n"], lease: 5, value: "1")
      try await corner.waitUntil { try $0.expiry("n") != nil }
      for command in ["INCR n", "INCRBYFLOAT n 1", "APPEND n 2", "SET n 2 KEEPTTL", "RENAME n m"] {
        let answer = try await host.answer(command)
        #expect(answer.hasPrefix("-ERR table ") && answer.contains("leases are not served"), "\(command): \(answer)")
      }
      #expect(corner.store.value("app/n") == "1")
      try await host.expect(["SET n 2": "+OK", "TTL n": ":-1", "INCR n": ":3"])
    }
  }

  @Test func anotherPolicyHoldsForAllKeysFromItsSessionOn() async throws {
    try await MirrorCorner.with { corner in
      corner.store.commit(["app/a"], lease: 5)
      corner.store.set(lease: 5, left: .seconds(600))
      try await corner.mirroring { try await corner.wait(for: .following) }
      #expect(try corner.expiry("a") == nil)
      try await corner.mirroring(expiring(.milliseconds(10))) {
        try await corner.waitUntil { try $0.expiry("a") != nil }
      }
      #expect(MirrorContents(try corner.table.upstream.status()!.contents)?.leases == .expire)
      let (report, _) = try await corner.mirroring {
        try await corner.wait { $0.contents == "string app/" && $0.state == .following }
      }
      #expect(report.reads == 1)
      #expect(try corner.expiry("a") == nil && corner.contents == ["a": "v"])
    }
  }
}

extension MirrorCorner {
  /// When a key ends in the table; nil if it does not, or is not there.
  fileprivate func expiry(_ key: String) throws -> UInt64? { try table.entry(forKey: key)?.expiry }

  fileprivate var expiringKeys: Int {
    get throws {
      try table.read { view in try view.keys(prefix: "k").filter { try view.entry(forKey: $0)?.expiry != nil }.count }
    }
  }

  /// Waits until something is so, which no commit may tell: a key that expires is none.
  fileprivate func waitUntil(
    _ isSo: (MirrorCorner) throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let hasComeTrue = try await comesTrue { try isSo(self) }
    try #require(hasComeTrue, sourceLocation: sourceLocation)
  }
}
