#if Etcd
  import TableMirror
  import Testing

  @testable import ShmdCore

  @Suite struct ConfigurationTests {
    private func upstream(_ text: String) throws -> UpstreamConfiguration? {
      try ConfigurationReader.parse("tables:\n  - name: a\n    upstream: \(text)", file: "f").tables[0].upstream
    }

    @Test func anAddressAloneWillDo() throws {
      let upstream = try #require(try upstream("etcd://a:1,b:2/app/"))
      #expect(upstream.settings.address == (try MirrorAddress("etcd://a:1,b:2/app/")))
      #expect(upstream.settings.resync == .never)
      #expect(upstream.settings.leases == .keep)
      #expect(upstream.access == MirrorAccess())
    }

    @Test func everyKeyIsReadAndWritten() throws {
      let upstream = try #require(
        try upstream(
          "{address: etcds://a:1/app/, authorities: /ca, certificate: /crt, key: /key, user: u, password-file: /pw, values: bytes, "
            + "resync: always, leases: expire, check: 5s}"))
      #expect(upstream.settings.valueForm == .bytes)
      #expect(upstream.settings.resync == .always)
      #expect(upstream.settings.leases == .expire)
      #expect(upstream.settings.checkInterval == .seconds(5))
      #expect(upstream.access.authorities == "/ca")
      #expect(upstream.access.key == "/key")
      #expect(upstream.access.passwordFile == "/pw")
      #expect(try self.upstream(upstream.written) == upstream)
    }

    @Test func aTableWithAnUpstreamIsMadeAMirror() throws {
      let configuration = try ConfigurationReader.parse(
        "tables: [{name: a, upstream: \"etcd://a:1/p\"}, {name: b}]", file: "f")
      #expect(configuration.tables.map { $0.options.features } == [[.mirror], []])
    }

    @Test(arguments: [
      ("http://a:1/", "address of an etcd"), ("{user: u}", "no 'address'"),
      ("{address: etcd://a:1/, user: u}", "password-file"),
      ("{address: etcds://a:1/, key: /k}", "certificate"), ("{address: etcd://a:1/, authorities: /ca}", "etcds://"),
      ("{address: etcd://a:1/, values: json}", "form of values"),
      ("{address: etcd://a:1/, leases: end}", "policy for leases"), ("{address: etcd://a:1/, what: 1}", "unknown key"),
      ("[1]", "not a mapping"), ("{address: etcds://a:1/, authorities: ca}", "path"),
    ])
    func whatIsWrongIsSaidWithItsLine(text: String, expected: String) throws {
      let refusal = #expect(throws: Refusal.self) { _ = try upstream(text) }
      let problem = try #require(refusal?.problems.first)
      #expect(problem.description.hasPrefix("f:3: ") && problem.description.contains(expected), "\(problem)")
    }
  }
#endif
