#if Etcd
  import Glibc
  import SharedTable
  import TestSupport
  import Testing

  /// The daemon with an `upstream` in its configuration.
  @Suite(.serialized, .enabled(if: EtcdServer.isInstalled, "needs etcd-server and etcd-client: make etcd-test"))
  struct DaemonTests {
    @Test func daemonKilledAtRandomMomentsGoesOnWhereTheTableIs() async throws {
      let server = try EtcdServer()
      try await withTableName { (name: String) async throws -> Void in
        var daemon = try EtcdDaemon(server, name)
        let fixture = EtcdFixture(table: try await EtcdDaemon.open(name), server: server)
        try await EtcdUser.with(server) { user in
          var random = SplitMix(seed: .random(in: 0 ... .max))
          var last = try await user.commit([("app/n", "0"), ("app/m", "0")])
          try await fixture.wait(for: last)
          for round in 0..<12 {
            async let writing = {
              for number in 0..<60 {
                try await user.commit([("app/n", "\(round) \(number)"), ("app/m", "\(round) \(number)")])
              }
              return try await user.commit([("app/k\(round)", "1"), ("app/k\(round - 2)", nil)])
            }()
            usleep(UInt32.random(in: 0..<60_000, using: &random))
            try daemon.kill()
            let snapshot = try fixture.snapshot
            #expect(snapshot.contents["n"] == snapshot.contents["m"])
            daemon = try EtcdDaemon(server, name)
            last = try await writing
            try await fixture.wait(for: last)
            try await fixture.expectEqual(user)
          }
          try daemon.kill()
        }
        #expect(try fixture.table.check() == [])
      }
    }

    @Test func aDurableMirrorComesBackAtItsRevisionAndCatchesUp() async throws {
      let server = try EtcdServer()
      try await withTableName { (name: String) async throws -> Void in
        let daemon = try EtcdDaemon(server, name, durability: "every-barrier")
        try await EtcdUser.with(server) { user in
          var revision: Int64 = 0
          do {
            let fixture = EtcdFixture(table: try await EtcdDaemon.open(name), server: server)
            for number in 0..<50 { revision = try await user.commit([("app/k\(number)", "\(number)")]) }
            try await fixture.wait(for: revision)
            let version = fixture.table.version
            while fixture.table.durableVersion < version { try await Task.sleep(for: .milliseconds(5)) }
            try daemon.kill()
          }
          // The host goes down: its memory is gone. Meanwhile etcd goes on.
          try Table.drop(name)
          let last = try await user.commit([("app/k0", nil), ("app/new", "1")])
          let next = try EtcdDaemon(server, name, durability: "every-barrier")
          let fixture = EtcdFixture(table: try await EtcdDaemon.open(name), server: server)
          #expect(try fixture.table.upstream.status()!.revision >= revision)
          try await fixture.wait(for: last)
          try await fixture.expectEqual(user)
          // It went on by events: what had not changed was not stored anew.
          let log = try EtcdServer.run("cat", ["\(server.directory)/shmd.log"])
          #expect(log.components(of: "mirror has read the whole prefix") == 1)
          try next.kill()
        }
      }
    }

    @Test func programsAreToldHowFarItIs() async throws {
      let server = try EtcdServer()
      try await withTableName { (name: String) async throws -> Void in
        let daemon = try EtcdDaemon(server, name)
        let fixture = EtcdFixture(table: try await EtcdDaemon.open(name), server: server)
        let last = try await EtcdUser.with(server) { try await $0.commit([("app/a", "1")]) }
        try await fixture.wait(for: last)
        let shmctl = WorkerProcess.productDirectory + "/shmctl"
        let text = try EtcdServer.run(shmctl, ["upstream", "status", "-t", name])
        #expect(text.contains("following") && text.contains("\(last)"))
        let json = try EtcdServer.run(shmctl, ["--json", "upstream", "status", "-t", name])
        #expect(json.contains("\"state\":\"following\"") && json.contains("\"revision\":\(last)"))
        #expect(try EtcdServer.run(shmctl, ["stat", "-t", name]).contains("following"))
        // Writes are refused, and what to do is said.
        let refused = try WorkerProcess.run(shmctl, ["set", "-t", name, "a", "2"])
        #expect(refused.exit != .code(0) && refused.errors.contains("mirrors"))
        try server.kill()
        try await fixture.wait { $0.state == .away }
        #expect(try EtcdServer.run(shmctl, ["get", "-t", name, "a"]).contains("1"))
        try daemon.kill()
      }
    }
  }

  extension String {
    /// How often a text is in it.
    fileprivate func components(of text: String) -> Int {
      split(separator: text, omittingEmptySubsequences: false).count - 1
    }
  }
#endif
