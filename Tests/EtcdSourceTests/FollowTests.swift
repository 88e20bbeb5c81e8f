#if Etcd
  import EtcdSource
  import SharedTable
  import TableMirror
  import TestSupport
  import Testing

  @Suite(.serialized, .enabled(if: EtcdServer.isInstalled, "needs etcd-server and etcd-client: make etcd-test"))
  struct FollowTests {
    @Test func tableIsWhatEtcdIs() async throws {
      try await EtcdFixture.with { fixture in
        try await EtcdUser.with(fixture.server) { user in
          try await user.commit([("app/a", "1"), ("app/b", "2"), ("other", "3"), ("app/", "itself")])
          // Several pages.
          for start in stride(from: 0, to: 1000, by: 100) {
            try await user.commit((start..<start + 100).map { ("app/k\($0)", "value \($0)") })
          }
          try await fixture.mirroring { mirror in
            try await fixture.wait { $0.state == .following }
            #expect(try fixture.snapshot.contents.count == 1002)
            try await fixture.expectEqual(user)
            let last = try await user.commit([("app/a", nil), ("app/b", "4"), ("app/c", "5")])
            try await fixture.wait(for: last)
            #expect(try fixture.table.get("c", as: String.self) == "5")
            try await fixture.expectEqual(user)
            #expect(mirror.report.revisions == 1)
            #expect(mirror.report.changes == 3)
          }
          // Away, and back: what came meanwhile comes as events.
          try await user.commit([("other", "6")])
          let last = try await user.commit([("app/a", "7")])
          try await fixture.mirroring { mirror in
            try await fixture.wait(for: last)
            try await fixture.expectEqual(user)
            #expect(mirror.report.reads == 0)
          }
        }
      }
    }

    @Test func ageIsSaidInAQuietPrefix() async throws {
      try await EtcdFixture.with { fixture in
        try await EtcdUser.with(fixture.server) { user in
          try await user.commit([("app/a", "1")])
          try await fixture.mirroring { _ in
            try await fixture.wait { $0.state == .following }
            // Elsewhere the store changes: no event comes, and the progress of the stream has to tell.
            let before = try fixture.table.upstream.status()!
            try await user.commit([("other", "1")])
            try await fixture.wait { $0.asOf > before.asOf + 300_000_000 }
            #expect(try fixture.table.upstream.status()!.revision == before.revision)
          }
        }
      }
    }

    @Test func memberKilledUnderLoadLosesNothingAndRepeatsNothing() async throws {
      try await EtcdFixture.with { fixture in
        try await EtcdUser.with(fixture.server) { user in
          try await user.commit([("app/n", "0"), ("app/m", "0")])
          try await fixture.mirroring { mirror in
            try await fixture.wait { $0.state == .following }
            let first = try fixture.snapshot.revision
            for round in 0..<4 {
              async let writing = {
                var last: Int64 = 0
                for number in 0..<100 {
                  last = try await user.commit([("app/n", "\(round) \(number)"), ("app/m", "\(round) \(number)")])
                }
                return last
              }()
              try await fixture.wait { $0.revision > first + Int64(round * 100 + 20) }
              try fixture.server.kill()
              try fixture.server.start()
              let last = try await writing
              try await fixture.wait(for: last)
              let snapshot = try fixture.snapshot
              #expect(snapshot.contents["n"] == snapshot.contents["m"])
              try await fixture.expectEqual(user)
            }
            // Every revision was one of ours, and each was one barrier.
            #expect(try fixture.snapshot.revision == first + Int64(mirror.report.revisions))
            #expect(mirror.report.reads == 1)
            #expect(mirror.report.sessions >= 5)
          }
        }
      }
    }

    @Test func compactionUnderLoadAndWhileAway() async throws {
      try await EtcdFixture.with { fixture in
        try await EtcdUser.with(fixture.server) { user in
          try await user.commit((0..<100).map { ("app/k\($0)", "0") })
          try await fixture.mirroring { mirror in
            try await fixture.wait { $0.state == .following }
            var last: Int64 = 0
            for number in 0..<200 {
              last = try await user.commit([("app/k\(number % 100)", "\(number)")])
              if number % 50 == 49 { try fixture.server.control("compact", "\(last)") }
            }
            try await fixture.wait(for: last)
            try await fixture.expectEqual(user)
            // A compaction ends a stream that etcd has not brought up to date yet, as on a busy machine: then all is read anew.
            #expect((1...5).contains(mirror.report.reads))
          }
          for number in 0..<50 { try await user.commit([("app/k\(number)", nil), ("app/new\(number)", "1")]) }
          let last = try await user.commit([("app/last", "1")])
          try fixture.server.control("compact", "\(last)")
          try fixture.server.control("defrag")
          try await fixture.mirroring { mirror in
            try await fixture.wait(for: last)
            try await fixture.expectEqual(user)
            #expect(mirror.report.reads == 1)
            #expect(mirror.report.revisions == 0)
          }
        }
      }
    }

    @Test func anotherClusterIsNoticed() async throws {
      try await EtcdFixture.with { fixture in
        try await EtcdUser.with(fixture.server) { user in
          for number in 0..<10 { try await user.commit([("app/a", "\(number)")]) }
          try await fixture.mirroring { _ in
            try await fixture.wait { $0.state == .following }
            try fixture.server.kill()
            try fixture.server.removeData()
            try fixture.server.start()
            try await user.commit([("app/z", "1")])
            // The same name and peers make the same cluster's number: its revision tells.
            try await fixture.wait { $0.state == .stopped }
            #expect(try fixture.snapshot.contents == ["a": "9"])
          }
          try await fixture.mirroring({ $0.resync = .always }) { _ in
            try await fixture.wait { $0.state == .following }
            #expect(try fixture.snapshot.contents == ["z": "1"])
            try await fixture.expectEqual(user)
          }
        }
      }
    }

    @Test func largeValuesComeInPagesAndFragments() async throws {
      try await EtcdFixture.with(capacityBytes: 256 << 20) { fixture in
        try await EtcdUser.with(fixture.server) { user in
          for number in 0..<20 { try await user.commit([("app/s\(number)", "small")]) }
          for number in 0..<30 { try await user.commit([("app/v\(number)", String(repeating: "x", count: 1_400_000))]) }
          try await fixture.mirroring { _ in try await fixture.wait { $0.state == .following } }
          try await fixture.expectEqual(user)
          var last: Int64 = 0
          for number in 0..<10 {
            let half = String(repeating: "\(number)", count: 700_000)
            last = try await user.commit([("app/v\(number)", half), ("app/w\(number)", half)])
          }
          try await fixture.mirroring { mirror in
            try await fixture.wait(for: last)
            try await fixture.expectEqual(user)
            #expect(mirror.report.revisions == 10)
          }
        }
      }
    }
  }
#endif
