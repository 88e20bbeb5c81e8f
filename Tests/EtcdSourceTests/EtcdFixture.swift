#if Etcd
  import EtcdSource
  import SharedTable
  import Synchronization
  import TableMirror
  import TestSupport
  import Testing

  /// A table that mirrors `app/` of an etcd.
  struct EtcdFixture {
    let table: Table
    let server: EtcdServer

    static func with(
      capacityBytes: Int = 64 << 20, _ server: EtcdServer? = nil, _ body: (EtcdFixture) async throws -> Void
    ) async throws {
      let server = try server ?? EtcdServer()
      try await withTableName { (name: String) async throws -> Void in
        var options = Table.Options(capacityBytes: capacityBytes)
        options.features = [.mirror]
        do {
          try await body(EtcdFixture(table: try Table.create(name, options), server: server))
        } catch {
          throw Failure("\(error); etcd: \(server.story)")
        }
      }
    }

    /// Mirrors while `body` runs.
    func mirroring<R>(
      secure: Bool = false, access: MirrorAccess = MirrorAccess(),
      _ configure: (inout MirrorSettings) -> Void = { _ in },
      _ body: (Mirror) async throws -> R
    ) async throws -> R {
      var settings = MirrorSettings(
        address: MirrorAddress(
          isSecure: secure, endpoints: [.init(host: "127.0.0.1", port: server.port)], prefix: Array("app/".utf8)))
      settings.checkInterval = .milliseconds(100)
      settings.backOff = BackOff(shortest: .milliseconds(10), longest: .milliseconds(200))
      configure(&settings)
      let mirror = Mirror(table, settings, source: EtcdSource(settings.address, access)) { _ in }
      let task = Task { await mirror.run() }
      do {
        let result = try await body(mirror)
        task.cancel()
        await task.value
        return result
      } catch {
        task.cancel()
        await task.value
        throw error
      }
    }

    /// Waits until the table says of itself what is wanted.
    func wait(_ isWanted: (UpstreamStatus) -> Bool) async throws {
      do {
        try await table.waitUntil(Table.Upstream.key, as: String.self, timeout: .seconds(60)) { _ in
          try table.upstream.status().map(isWanted) ?? false
        }
      } catch {
        throw Failure("\(error); the mirror: \(try table.upstream.status().map { "\($0)" } ?? "nothing")")
      }
    }

    func wait(for revision: Int64) async throws { try await wait { $0.revision >= revision } }

    /// What the table is, with the revision that it says, of one moment.
    var snapshot: (revision: Int64, contents: [String: String]) {
      get throws {
        try table.read { view in
          var contents: [String: String] = [:]
          var revision: Int64 = 0
          for key in try view.keys() {
            let bytes = try view.entry(forKey: key)!.bytes
            let text = String(decoding: bytes, as: UTF8.self)
            if key == Array(Table.Upstream.key.utf8) {
              revision = UpstreamStatus(text: text)!.revision
            } else {
              contents[String(decoding: key, as: UTF8.self)] = text
            }
          }
          return (revision, contents)
        }
      }
    }

    /// The table is what etcd was at the table's revision.
    func expectEqual(_ user: EtcdUser, sourceLocation: SourceLocation = #_sourceLocation) async throws {
      let snapshot = try snapshot
      let contents = try await user.contents("app/", at: snapshot.revision)
      #expect(snapshot.contents == contents, sourceLocation: sourceLocation)
    }
  }
#endif
