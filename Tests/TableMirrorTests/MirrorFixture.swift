import SharedTable
import Synchronization
import TableMirror
import TestSupport
import Testing

/// A table that mirrors a store in memory, and what tests wait for.
struct MirrorFixture {
  var table: Table
  let store: FakeStore
  var settings: MirrorSettings
  static let timeout = Duration.seconds(60)

  /// Runs `body` with a new table that is a mirror, and nobody who mirrors.
  static func with(
    _ variant: Table.Variant = .rcu, capacityBytes: Int = 4 << 20, _ body: (MirrorFixture) async throws -> Void
  ) async throws {
    try await withTableName { (name: String) async throws -> Void in
      var options = Table.Options(variant: variant, capacityBytes: capacityBytes)
      options.features = [.mirror]
      let table = try Table.create(name, options)
      var settings = MirrorSettings(
        address: MirrorAddress(endpoints: [.init(host: "db", port: 2379)], prefix: Array("app/".utf8)))
      settings.backOff = BackOff(shortest: .milliseconds(1), longest: .milliseconds(2))
      settings.checkInterval = .milliseconds(1)
      try await body(MirrorFixture(table: table, store: FakeStore(), settings: settings))
      #expect(try table.check() == [])
    }
  }

  /// Mirrors while `body` runs.
  /// - Parameter hear: is told what the mirror says, when it says it.
  /// - Returns: what the mirror has done and said until it ended.
  @discardableResult
  func mirroring(
    _ configure: (inout MirrorSettings) -> Void = { _ in }, hear: @escaping @Sendable (MirrorNews) -> Void = { _ in },
    _ body: () async throws -> Void
  ) async throws -> (report: MirrorReport, news: [MirrorNews]) {
    var settings = settings
    configure(&settings)
    let news = NewsLog()
    let mirror = Mirror(table, settings, source: store) {
      news.add($0)
      hear($0)
    }
    let task = Task { await mirror.run() }
    let result = await Result { try await body() }
    task.cancel()
    await task.value
    try result.get()
    return (mirror.report, news.all)
  }

  /// Waits until the table says of itself what is wanted.
  func wait(_ isWanted: (UpstreamStatus) -> Bool) async throws {
    try await table.waitUntil(Table.Upstream.key, as: String.self, timeout: Self.timeout) { _ in
      try table.upstream.status().map(isWanted) ?? false
    }
  }

  /// Waits until the table is at least at a revision.
  func wait(for revision: Int64) async throws { try await wait { $0.revision >= revision } }

  func wait(for state: UpstreamStatus.State) async throws { try await wait { $0.state == state } }

  var contents: [String: String] {
    get throws {
      try table.read { view in
        var contents: [String: String] = [:]
        for key in try view.keys() where key != Array(Table.Upstream.key.utf8) {
          let entry = try view.entry(forKey: key)!
          contents[String(decoding: key, as: UTF8.self)] = String(decoding: entry.bytes, as: UTF8.self)
        }
        return contents
      }
    }
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

/// What a mirror has said.
private final class NewsLog: Sendable {
  private let news = Mutex<[MirrorNews]>([])

  func add(_ item: MirrorNews) { news.withLock { $0.append(item) } }
  var all: [MirrorNews] { news.withLock { $0 } }
}
