#if Etcd
  import Dispatch
  import SharedTable
  import TableMirror
  import TestSupport
  import Testing

  /// Keys with leases of a real etcd, which ends them by itself.
  @Suite(.serialized, .enabled(if: EtcdServer.isInstalled, "needs etcd-server and etcd-client: make etcd-test"))
  struct LeaseTests {
    private func expiring(_ settings: inout MirrorSettings) {
      (settings.leases, settings.checkInterval) = (.expire, .seconds(2))
    }

    /// On a thread of its own: the mirror's tasks, and other tests', need the threads of Swift's pool.
    private func keepAlive(_ lease: String, _ server: EtcdServer) async throws {
      let endpoint = server.endpoint
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        DispatchQueue(label: "keep-alive").async {
          continuation.resume(
            with: Result {
              _ = try EtcdServer.run("etcdctl", ["--endpoints", endpoint, "lease", "keep-alive", "--once", lease])
            })
        }
      }
    }

    private func waitUntil(
      _ isSo: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
      let hasComeTrue = try await comesTrue { try isSo() }
      try #require(hasComeTrue, sourceLocation: sourceLocation)
    }

    @Test func aLeaseThatEndsTakesItsKeysByAnEvent() async throws {
      try await EtcdFixture.with { fixture in
        let lease = try fixture.server.grant(seconds: 20)
        try fixture.server.control("put", "app/a", "1", "--lease", lease)
        try fixture.server.control("put", "app/own", "1")
        try await fixture.mirroring(expiring) { _ in
          try await fixture.wait { $0.state == .following }
          let revision = try fixture.snapshot.revision
          #expect(try fixture.snapshot.contents == ["a": "1", "own": "1"])
          // The removal is a revision, and the key is there as long as it has not come.
          let expired = try await seesKeyGo(fixture, revision)
          #expect(!expired)
          try await EtcdUser.with(fixture.server) { try await fixture.expectEqual($0) }
          #expect(try fixture.snapshot.contents == ["own": "1"])
        }
      }
    }

    /// - Returns: whether it went before its removal came.
    private func seesKeyGo(_ fixture: EtcdFixture, _ revision: Int64) async throws -> Bool {
      var isOfFirst = false
      try await waitUntil {
        let now = try fixture.snapshot
        isOfFirst = now.contents["a"] == nil && now.revision == revision
        return now.contents["a"] == nil
      }
      return isOfFirst
    }

    @Test func aLeaseThatIsKeptAliveKeepsItsKeys() async throws {
      try await EtcdFixture.with { fixture in
        let lease = try fixture.server.grant(seconds: 10)
        try fixture.server.control("put", "app/a", "1", "--lease", lease)
        try await fixture.mirroring(expiring) { _ in
          try await waitUntil { try fixture.table.entry(forKey: "a")?.expiry != nil }
          let first = try #require(try fixture.table.entry(forKey: "a")?.expiry)
          // Until it would have ended, had nobody kept it alive, and the grace as well.
          var expiry = first
          while expiry < first + 12_000_000_000 {
            try await keepAlive(lease, fixture.server)
            #expect(try fixture.snapshot.contents == ["a": "1"])
            expiry = try #require(try fixture.table.entry(forKey: "a")?.expiry)
          }
          try fixture.server.control("lease", "revoke", lease)
          try await waitUntil { try fixture.snapshot.contents == [:] }
        }
      }
    }

    @Test func whileEtcdIsAwayAKeyGoesWithItsLeaseOnlyWhereThatIsWanted() async throws {
      for leases in MirrorSettings.Leases.allCases {
        try await EtcdFixture.with { fixture in
          let short = try fixture.server.grant(seconds: 20)
          let long = try fixture.server.grant(seconds: 600)
          try fixture.server.control("put", "app/short", "1", "--lease", short)
          try fixture.server.control("put", "app/long", "1", "--lease", long)
          try await fixture.mirroring({ ($0.leases, $0.checkInterval) = (leases, .milliseconds(500)) }) { _ in
            try await fixture.wait { $0.state == .following }
            if leases == .expire { try await waitUntil { try fixture.table.entry(forKey: "short")?.expiry != nil } }
            try fixture.server.kill()
            try await fixture.wait { $0.state == .away }
            if leases == .expire {
              try await waitUntil { try fixture.snapshot.contents == ["long": "1"] }
            } else {
              #expect(try fixture.table.entry(forKey: "short")?.expiry == nil)
            }
            // A leader that is new gives each lease its whole time anew: the key comes back, and goes by its event.
            try fixture.server.start()
            try await waitUntil { try fixture.snapshot.contents == ["short": "1", "long": "1"] }
            try await waitUntil { try fixture.snapshot.contents == ["long": "1"] }
            try await fixture.wait { $0.state == .following }
            try await EtcdUser.with(fixture.server) { try await fixture.expectEqual($0) }
          }
        }
      }
    }

    @Test func theDaemonDiesAndAKeyGoesWithItsLeaseUntilTheNextOneBringsItBack() async throws {
      let server = try EtcdServer()
      try await withTableName { (name: String) async throws -> Void in
        let lease = try server.grant(seconds: 20)
        try server.control("put", "app/a", "1", "--lease", lease)
        let daemon = try EtcdDaemon(server, name, leases: "expire")
        let fixture = EtcdFixture(table: try await EtcdDaemon.open(name), server: server)
        try await waitUntil { try fixture.table.entry(forKey: "a")?.expiry != nil }
        try daemon.kill()
        // Kept alive over there, of which the table knows nothing.
        while try fixture.table.get("a", as: String.self) != nil {
          try await keepAlive(lease, server)
        }
        let next = try EtcdDaemon(server, name, leases: "expire")
        while try fixture.table.get("a", as: String.self) == nil {
          try await keepAlive(lease, server)
        }
        try await waitUntil { try fixture.table.get("a", as: String.self) == nil }
        try next.kill()
      }
    }
  }

  extension EtcdServer {
    /// - Returns: the lease, as etcdctl takes it.
    fileprivate func grant(seconds: Int) throws -> String {
      let answer = try control("lease", "grant", "\(seconds)")
      return String(try #require(answer.split(separator: " ").dropFirst().first))
    }
  }
#endif
