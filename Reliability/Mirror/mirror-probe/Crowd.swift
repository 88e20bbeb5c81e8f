#if Etcd
  import EtcdSource
  import Glibc
  import SharedTable
  import Synchronization
  import TableMirror

  /// Mirrors of one prefix into tables of their own: to etcd, as many hosts.
  ///
  /// Prints `began SECONDS` for each session, and `following COUNT SECONDS` when all follow: seconds since the first of them was away.
  final class Crowd: Sendable {
    private struct State {
      var following: Set<String> = []
      /// Since when not all follow.
      var begin = ContinuousClock.now
    }

    private let address: MirrorAddress
    private let tables: [Table]
    private let state = Mutex(State())

    init(_ address: MirrorAddress, count: Int, capacityBytes: Int) throws {
      var options = Table.Options(capacityBytes: capacityBytes)
      options.features = [.mirror]
      self.address = address
      tables = try (0..<count).map { try Table.create("mirror-probe-\(getpid())-\($0)", options) }
    }

    /// Until the input ends; the tables are removed then.
    func run() async throws {
      defer { for table in tables { try? Table.drop(table.name) } }
      Role.say("table \(tables[0].name)")
      state.withLock { $0.begin = .now }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for table in tables {
          let mirror = Mirror(table, MirrorSettings(address: address), source: EtcdSource(address, MirrorAccess())) {
            news in
            self.take(news, table.name)
          }
          group.addTask { await mirror.run() }
        }
        try await Role.inputEnds()
        group.cancelAll()
        try await group.waitForAll()
      }
    }

    private func take(_ news: MirrorNews, _ table: String) {
      let now = ContinuousClock.now
      state.withLock { state in
        switch news {
        case .following:
          state.following.insert(table)
          let seconds = (now - state.begin) / .seconds(1)
          Role.say("began \(seconds)")
          if state.following.count == tables.count { Role.say("following \(tables.count) \(seconds)") }
        case .away:
          if state.following.count == tables.count { state.begin = now }
          state.following.remove(table)
        case .stopped(let problem): Role.say("mirror-probe: \(table) has stopped: \(problem)")
        case .read, .otherStore: break
        }
      }
    }
  }
#endif
