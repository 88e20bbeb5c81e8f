#if Etcd
  import EtcdSource
  import SharedTable
  import TableMirror
  import TestSupport
  import Testing

  @Suite(.serialized, .enabled(if: EtcdServer.isInstalled, "needs etcd-server and etcd-client: make etcd-test"))
  struct AdmissionTests {
    @Test func tokensAreRenewed() async throws {
      let server = try EtcdServer(["--auth-token-ttl", "1"])
      try await EtcdFixture.with(server) { fixture in
        _ = try await EtcdUser.with(server) { try await $0.commit([("app/a", "1")]) }
        try server.control("user", "add", "root:secret")
        try server.control("user", "grant-role", "root", "root")
        try server.control("auth", "enable")
        let file = "\(server.directory)/password"
        try write("wrong\n", to: file)
        var access = MirrorAccess()
        (access.user, access.passwordFile) = ("root", file)
        // Looks come less often than tokens last: each finds its token expired.
        try await fixture.mirroring(access: access, { $0.checkInterval = .seconds(3) }) { mirror in
          try await fixture.wait { $0.state == .away && $0.problem.contains("authentication failed") }
          try write("secret\n", to: file)
          try await fixture.wait { $0.state == .following }
          let first = try fixture.table.upstream.status()!.asOf
          try await fixture.wait { $0.asOf > first }
          let before = try fixture.table.upstream.status()!.asOf
          let sessions = mirror.report.sessions
          try server.control("--user", "root:secret", "put", "other", "1")
          try await fixture.wait { $0.asOf > before }
          #expect(mirror.report.sessions == sessions)
          try server.control("--user", "root:secret", "put", "app/b", "2")
          try await fixture.wait { _ in (try? fixture.table.get("b", as: String.self)) == "2" }
          #expect(mirror.report.sessions == sessions)
        }
      }
    }

    @Test func certificatesAreAskedForAndMayBeReplaced() async throws {
      let authority = try TestAuthority()
      let server = try EtcdServer(
        scheme: "https",
        [
          "--cert-file", authority.path("server.crt"), "--key-file", authority.path("server.key"), "--client-cert-auth",
          "--trusted-ca-file", authority.path("ca.crt"),
        ])
      try await EtcdFixture.with(server) { fixture in
        var access = MirrorAccess()
        access.authorities = authority.path("ca.crt")
        access.certificate = "\(server.directory)/client.crt"
        access.key = "\(server.directory)/client.key"
        // A certificate of nobody's is not admitted; the right one in its place is, from the next try on.
        try authority.install("stranger", as: "\(server.directory)/client")
        try await fixture.mirroring(secure: true, access: access) { _ in
          try await fixture.wait { $0.state == .away && !$0.problem.isEmpty }
          try authority.install("client", as: "\(server.directory)/client")
          try await fixture.wait { $0.state == .following }
          try put(server, authority, "1")
          try await fixture.wait { _ in (try? fixture.table.get("a", as: String.self)) == "1" }
          // One that is replaced while it follows cuts nothing, and counts from the next session on.
          try authority.install("stranger", as: "\(server.directory)/client")
          try put(server, authority, "2")
          try await fixture.wait { _ in (try? fixture.table.get("a", as: String.self)) == "2" }
          try server.kill()
          try server.start()
          try await fixture.wait { $0.state == .away && $0.problem.contains("sslError") }
          try authority.install("client", as: "\(server.directory)/client")
          try await fixture.wait { $0.state == .following }
        }
      }
    }

    private func put(_ server: EtcdServer, _ authority: TestAuthority, _ value: String) throws {
      try EtcdServer.run(
        "etcdctl",
        [
          "--endpoints", "https://\(server.endpoint)", "--cacert", authority.path("ca.crt"), "--cert",
          authority.path("client.crt"), "--key", authority.path("client.key"), "put", "app/a", value,
        ])
    }

    @Test func aServerOfAnotherAuthorityIsNotBelieved() async throws {
      let (authority, other) = (try TestAuthority(), try TestAuthority())
      let server = try EtcdServer(
        scheme: "https", ["--cert-file", other.path("server.crt"), "--key-file", other.path("server.key")])
      try await EtcdFixture.with(server) { fixture in
        var access = MirrorAccess()
        access.authorities = authority.path("ca.crt")
        try await fixture.mirroring(secure: true, access: access) { mirror in
          try await fixture.wait { $0.state == .away && !$0.problem.isEmpty }
          #expect(mirror.report.sessions == 0)
        }
      }
    }
  }
#endif
