#if Etcd
  import EtcdSource
  import Glibc
  import SharedTable
  import TableMirror
  import TestSupport
  import Testing
  import UpstreamWrites

  /// Writes to a mirrored table, which are etcd's to make.
  @Suite(.serialized, .enabled(if: EtcdServer.isInstalled, "needs etcd-server and etcd-client: make etcd-test"))
  struct WriteTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// Asks for changes on premises at the table's revision.
    private func commit(
      _ mirror: Mirror, at revision: Int64, premises: [String: Bool] = [:], _ changes: [String: String?] = [:],
      removesOthers: Bool = false
    ) async throws -> UpstreamCommit.Outcome {
      var commit = UpstreamCommit(at: revision)
      for (key, isPresent) in premises { commit.premises[bytes(key)] = isPresent }
      for (key, value) in changes { commit.changes[bytes(key)] = .some(value.map(bytes)) }
      commit.removesOthers = removesOthers
      return try await mirror.session().commit(commit, timeout: .seconds(30))
    }

    @Test func premisesHoldOrNothingIsChanged() async throws {
      try await EtcdFixture.with { fixture in
        try await EtcdUser.with(fixture.server) { user in
          let begin = try await user.commit([("app/there", "1"), ("app/gone", "1"), ("app/", "the prefix itself")])
          try await fixture.mirroring { mirror in
            try await fixture.wait { $0.state == .following && $0.revision >= begin }
            _ = await comesTrue { (try? mirror.session()) != nil }
            let all = ["there": true, "gone": true, "absent": false]
            // Nothing to change: whether it holds.
            #expect(try await commit(mirror, at: begin, premises: all) == .made(revision: nil))
            #expect(try await commit(mirror, at: begin, premises: all, ["new": "1"]) == .made(revision: begin + 1))
            #expect(try await commit(mirror, at: begin, premises: ["new": false], ["x": "1"]) == .conflict)
            #expect(try await commit(mirror, at: begin, premises: ["new": true]) == .conflict)
            #expect(try await commit(mirror, at: begin + 1, premises: ["new": true]) == .made(revision: nil))
            try await user.commit([("app/gone", nil)])
            #expect(try await commit(mirror, at: begin + 1, premises: ["gone": true], ["x": "1"]) == .conflict)
            // What is removed and is not there makes no revision.
            #expect(try await commit(mirror, at: 1, ["gone": nil, "never": nil]) == .made(revision: nil))
            let last = begin + 3
            #expect(
              try await commit(mirror, at: 1, ["b": "2", "d": "4"], removesOthers: true) == .made(revision: last))
            #expect(
              try await commit(mirror, at: 1, ["b": "3", "b\0": "4"], removesOthers: true) == .made(revision: last + 1))
            try await fixture.wait(for: last + 1)
            #expect(try fixture.snapshot.contents == ["b": "3", "b\0": "4"])
            try await fixture.expectEqual(user)
            // The prefix itself is not below it.
            #expect(try fixture.server.control("get", "--print-value-only", "app/") == "the prefix itself\n")
          }
        }
      }
    }

    @Test func moreCallsThanAConnectionTakesEndNoSession() async throws {
      try await EtcdFixture.with { fixture in
        // Until it answers: of two connections that a mirror makes while etcd starts, one may come too early, and a session with it.
        #expect(await comesTrue { (try? fixture.server.control("get", "app/")) != nil })
        try await fixture.mirroring { mirror in
          try await fixture.wait { $0.state == .following }
          _ = await comesTrue { (try? mirror.session()) != nil }
          // As quickly as it goes, and several at a time: connections are changed while calls are under way.
          try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
              group.addTask {
                for number in 0..<150 {
                  let outcome = try await commit(mirror, at: 1, ["k\(writer)": "\(number)"])
                  #expect(outcome != .conflict)
                }
              }
            }
            try await group.waitForAll()
          }
          try await fixture.wait(for: 601)
          #expect(mirror.report.sessions == 1)
        }
      }
    }

    @Test func whatEtcdRefusesIsSaidInItsWords() async throws {
      let server = try EtcdServer()
      try await EtcdFixture.with(server) { fixture in
        try server.control("user", "add", "root:secret")
        try server.control("user", "grant-role", "root", "root")
        try server.control("role", "add", "reader")
        try server.control("role", "grant-permission", "reader", "read", "app/", "app0")
        try server.control("user", "add", "shmd:secret")
        try server.control("user", "grant-role", "shmd", "reader")
        try server.control("auth", "enable")
        var access = MirrorAccess()
        (access.user, access.passwordFile) = ("shmd", "\(server.directory)/password")
        try write("secret\n", to: access.passwordFile!)
        try await fixture.mirroring(access: access) { mirror in
          try await fixture.wait { $0.state == .following }
          _ = await comesTrue { (try? mirror.session()) != nil }
          await expectRefusal("permission denied") { try await commit(mirror, at: 1, ["a": "1"]) }
          try server.control("--user", "root:secret", "role", "grant-permission", "reader", "readwrite", "app/", "app0")
          #expect(try await commit(mirror, at: 1, ["a": "1"]) != .conflict)
          let many = Dictionary(uniqueKeysWithValues: (0..<129).map { ("k\($0)", "1" as String?) })
          await expectRefusal("too many operations") { try await commit(mirror, at: 1, many) }
          for size in [1_600_000, 3_000_000] {
            let large = String(repeating: "x", count: size)
            await expectRefusal("larg") { try await commit(mirror, at: 1, ["a": large]) }
          }
        }
      }
    }

    @Test func whatFindsNoConnectionWasNotSent() async throws {
      let server = try EtcdServer()
      let address = MirrorAddress(endpoints: [.init(host: "127.0.0.1", port: server.port)], prefix: bytes("app/"))
      var commit = UpstreamCommit(at: 1)
      commit.changes[bytes("a")] = .some(bytes("1"))
      let (request, began, ends) = (commit, Signal(), Signal())
      // A session that its mirror would have ended: nobody watches here.
      let session = Task {
        try await EtcdSource(address, MirrorAccess()).withSession(0) { session in
          _ = await comesTrue { (try? await session.position()) != nil }
          began.set()
          await ends.wait()
          // At first the connection may be taken for whole.
          #expect(await comesTrue { await isAway(session, request) })
        }
      }
      await began.wait()
      try server.kill()
      ends.set()
      try await session.value
    }

    private func isAway(_ session: any MirrorSession, _ commit: UpstreamCommit) async -> Bool {
      do throws(UpstreamRefusal) {
        _ = try await session.commit(commit, timeout: .seconds(1))
        return false
      } catch {
        if case .away = error { return true }
        return false
      }
    }

    /// Something has happened.
    private struct Signal: Sendable {
      private let stream = AsyncStream<Void>.makeStream()
      func set() { stream.continuation.finish() }
      func wait() async { for await _ in stream.stream {} }
    }

    private func expectRefusal(
      _ words: String, sourceLocation: SourceLocation = #_sourceLocation,
      _ body: () async throws -> UpstreamCommit.Outcome
    ) async {
      do {
        let outcome = try await body()
        Issue.record("it was not refused: \(outcome)", sourceLocation: sourceLocation)
      } catch let refusal as UpstreamRefusal {
        switch refusal {
        case .refused(let why), .notPermitted(let why): #expect(why.contains(words), sourceLocation: sourceLocation)
        case .away, .unsure: Issue.record("\(refusal)", sourceLocation: sourceLocation)
        }
      } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
      }
    }

    @Test func twoDaemonsCountOnOneCounter() async throws {
      let server = try EtcdServer()
      try await withTableName { (first: String) async throws -> Void in
        try await withTableName { (second: String) async throws -> Void in
          let daemons = [
            try EtcdDaemon(server, first, host: "1"), try EtcdDaemon(server, second, host: "2"),
          ]
          for name in [first, second] {
            let fixture = EtcdFixture(table: try await EtcdDaemon.open(name), server: server)
            try await fixture.wait { $0.state == .following }
          }
          let counters = daemons.map { daemon in
            TestThread { () throws -> [String] in
              var client: RedisClient?
              _ = eventually {
                client = try? RedisClient(daemon.socket); return client != nil
              }
              // The table says that it is followed a moment before the daemon takes writes.
              _ = try eventually { try client!.call("SET", "mine-\(daemon.socket)", "1") == "+OK" }
              return try (0..<100).map { _ in
                let sum = try client!.call("INCR", "n")
                let read = try client!.call("GET", "n")
                // One's own write is read back, or what came after it.
                #expect(Int(read.dropFirst().dropLast()) ?? 0 >= Int(sum.dropFirst()) ?? .max)
                return sum
              }
            }
          }
          let sums = try counters.flatMap { try $0.join() }
          #expect(Set(sums) == Set((1...200).map { ":\($0)" }))
          #expect(try server.control("get", "--print-value-only", "app/n") == "200\n")
          // Etcd goes away: who writes is told at once, and who reads is served.
          try server.kill()
          let fixture = EtcdFixture(table: try await EtcdDaemon.open(first), server: server)
          try await fixture.wait { $0.state == .away }
          let client = try RedisClient(daemons[0].socket)
          #expect(try client.call("INCR", "n").hasPrefix("-MIRRORAWAY"))
          #expect(try client.call("GET", "n") == "\"200\"")
          for daemon in daemons { try daemon.kill() }
        }
      }
    }
  }
#endif
