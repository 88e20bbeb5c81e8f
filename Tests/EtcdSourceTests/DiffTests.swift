#if Etcd
  import Dispatch
  import SharedTable
  import TestSupport
  import Testing

  /// `shmctl upstream diff` with the host's etcdctl.
  @Suite(.serialized, .enabled(if: EtcdServer.isInstalled, "needs etcd-server and etcd-client: make etcd-test"))
  struct DiffTests {
    /// Runs it on a thread of its own: the mirror's tasks, and other tests', need the threads of Swift's pool.
    private func diff(_ fixture: EtcdFixture, _ more: String...) async throws -> (
      exit: WorkerProcess.Exit, output: String, errors: String
    ) {
      let name = fixture.table.name
      return try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "diff").async {
          continuation.resume(
            with: Result {
              try WorkerProcess.run(
                WorkerProcess.productDirectory + "/shmctl", ["upstream", "diff", "-t", name] + more)
            })
        }
      }
    }

    @Test func aMirrorIsWhatEtcdIsAndWhatIsNotIsNamed() async throws {
      try await EtcdFixture.with { fixture in
        try await EtcdUser.with(fixture.server) { user in
          // Several pages, keys that no argument can hold among them.
          for number in 0..<60 {
            try await user.commit([
              ("app/k\(number)", String(repeating: "\(number) ", count: 40_000)), ("app/z\u{0}\(number)", "1"),
            ])
          }
          let last = try await user.commit([("app/empty", ""), ("elsewhere", "1")])
          try await fixture.mirroring { _ in try await fixture.wait(for: last) }
          // Newer than the table: it is compared with what was.
          try await user.commit([("app/new", "1"), ("app/k0", nil)])
          let same = try await diff(fixture)
          #expect(same.exit == .code(0) && same.output.isEmpty, "\(same.output.prefix(300))\(same.errors)")
          try fixture.table.mirrorBarrier { tx throws(TableError) in
            try tx.remove("k7")
            try tx.set("k8", "other")
            try tx.set("mine", "1")
          }
          let differing = try await diff(fixture)
          #expect(differing.exit == .code(1) && differing.output == "+ k7\n~ k8\n- mine\n", "\(differing.errors)")
        }
      }
    }

    @Test func aCompactedRevisionIsComparedWhileTheMirrorFollows() async throws {
      try await EtcdFixture.with { fixture in
        try await EtcdUser.with(fixture.server) { user in
          let last = try await user.commit([("app/a", "1"), ("app/b", "2")])
          try await fixture.mirroring { _ in
            try await fixture.wait(for: last)
            // The prefix is quiet, and its revision long gone.
            for _ in 0..<5 { try await user.commit([("elsewhere", "1")]) }
            try fixture.server.control("compact", "\(last + 3)")
            let same = try await diff(fixture, "--timeout", "60s")
            #expect(same.exit == .code(0) && same.output.isEmpty, "\(same.output)\(same.errors)")
          }
          // A mirror whose watch began after the compaction has read everything anew, and stands at a later revision.
          let stood = try #require(try fixture.table.upstream.status()).revision
          let newest = try await user.commit([("elsewhere", "2")])
          try fixture.server.control("compact", "\(newest)")
          let away = try await diff(fixture)
          #expect(
            away.exit == .code(7) && away.output.isEmpty && away.errors.contains("compacted revision \(stood)"),
            "\(away.exit) \(away.output)\(away.errors)")
          try fixture.server.kill()
          let gone = try await diff(fixture, "--timeout", "200ms")
          #expect(gone.exit == .code(11) && gone.output.isEmpty && gone.errors.contains("etcdctl: "), "\(gone.errors)")
        }
      }
    }
  }
#endif
