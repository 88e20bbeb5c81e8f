#if Etcd
  import EtcdMessages
  import EtcdSource
  import FoundationEssentials
  import GRPCCore
  import GRPCNIOTransportHTTP2Posix
  import Glibc
  import SharedTable
  import Synchronization
  import TableMirror

  /// What a mirror costs beside what etcd itself does, in one run.
  struct Probe {
    let port: Int
    let keys: Int
    private static let prefix = "p/"

    private var address: MirrorAddress {
      MirrorAddress(endpoints: [.init(host: "127.0.0.1", port: port)], prefix: Array(Self.prefix.utf8))
    }

    func run() async throws {
      let transport = try HTTP2ClientTransport.Posix(
        target: .ipv4(address: "127.0.0.1", port: port), transportSecurity: .plaintext)
      try await withGRPCClient(transport: transport) { client in
        let kv = Etcdserverpb_KV.Client(wrapping: client)
        try await fill(kv)
        try await measureReading()
        try await measurePropagation(kv)
      }
    }

    private func fill(_ kv: Etcdserverpb_KV.Client<HTTP2ClientTransport.Posix>) async throws {
      for start in stride(from: 0, to: keys, by: 100) {
        let request = Etcdserverpb_TxnRequest.with {
          $0.success = (start..<min(keys, start + 100)).map { number in
            .with {
              $0.requestPut = .with {
                $0.key = Data("\(Self.prefix)key:\(number)".utf8)
                $0.value = Data("value of key \(number)".utf8)
              }
            }
          }
        }
        _ = try await kv.txn(request)
      }
    }

    // MARK: - Reading all

    private func makeTable() throws -> Table {
      var options = Table.Options(capacityBytes: max(64 << 20, keys * 400))
      options.features = [.mirror]
      let name = "etcd-probe.\(getpid())"
      try? Table.drop(name)
      return try Table.create(name, options)
    }

    private func measureReading() async throws {
      let clock = ContinuousClock()
      let source = EtcdSource(address, MirrorAccess())
      try await source.withSession(0) { session in
        // What the mirror asks for, in the pages that it would ask for, and nothing done with it.
        let took = try await clock.measure {
          var last: [UInt8]?
          var revision: Int64 = 0
          while true {
            let page = ContentPage()
            let answer = try await session.read(into: page, after: last, at: revision, limit: 16_384)
            if revision == 0 { revision = answer.position.revision }
            last = page.lastKey
            if !answer.hasMore { break }
          }
        }
        say("pages of 16,384 keys by the mirror's client, thrown away: \(took)")
      }
      let serving = clock.measure {
        system(
          "ETCDCTL_API=3 etcdctl --endpoints http://127.0.0.1:\(port) --command-timeout 600s get --prefix \(Self.prefix) >/dev/null"
        )
      }
      say("etcdctl get --prefix of \(keys) keys: \(serving)")
      let table = try makeTable()
      defer { try? Table.drop(table.name) }
      let mirror = Mirror(table, MirrorSettings(address: address), source: source) { _ in }
      let start = clock.now
      let task = Task { await mirror.run() }
      try await table.waitUntil(Table.Upstream.key, as: String.self, timeout: .seconds(600)) { _ in
        try table.upstream.status()?.revision ?? 0 > 0
      }
      let took = clock.now - start
      task.cancel()
      await task.value
      say("mirror of \(keys) keys: \(took), \(table.count - 1) keys; beside etcdctl \(took / serving)")
    }

    // MARK: - Propagation

    /// 1,000 changes a second; each value is the time at which it was sent.
    private func measurePropagation(_ kv: Etcdserverpb_KV.Client<HTTP2ClientTransport.Posix>) async throws {
      let table = try makeTable()
      defer { try? Table.drop(table.name) }
      let source = EtcdSource(address, MirrorAccess())
      let mirror = Mirror(table, MirrorSettings(address: address), source: source) { _ in }
      let task = Task { await mirror.run() }
      try await table.waitUntil(Table.Upstream.key, as: String.self, timeout: .seconds(600)) { _ in
        try table.upstream.status()?.state == .following
      }
      let (watched, mirrored) = (Delays(), Delays())
      let watch = Task {
        try await source.withSession(0) { session in
          let next = try await session.position().revision + 1
          try await session.watch(from: next) { answer in
            for event in answer.events { event.value.map { watched.add(sentAs: String(decoding: $0, as: UTF8.self)) } }
          }
        }
      }
      let follower = Thread(table, mirrored)
      try await Task.sleep(for: .seconds(1))
      try await send(kv, seconds: 20)
      try await Task.sleep(for: .seconds(1))
      watch.cancel()
      task.cancel()
      follower.stop()
      _ = try? await watch.value
      await task.value
      let (a, b) = (watched.median, mirrored.median)
      print(
        "stream of events: median \(a / 1000) µs of \(watched.count); table: median \(b / 1000) µs of \(mirrored.count); ratio \(Double(b) / Double(max(1, a)))"
      )
    }

    private func send(_ kv: Etcdserverpb_KV.Client<HTTP2ClientTransport.Posix>, seconds: Int) async throws {
      let clock = ContinuousClock()
      let start = clock.now
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<seconds * 1000 {
          try await clock.sleep(until: start + .milliseconds(number))
          group.addTask {
            _ = try await kv.txn(
              .with {
                $0.success = [
                  .with {
                    $0.requestPut = .with {
                      $0.key = Data("\(Self.prefix)key:\(number * 7919 % keys)".utf8)
                      $0.value = Data("\(Delays.now)".utf8)
                    }
                  }
                ]
              })
          }
        }
        try await group.waitForAll()
      }
    }
  }

  /// Prints a line at once.
  func say(_ line: String) {
    print(line)
    fflush(nil)
  }

  /// How long after they were sent values came.
  final class Delays: Sendable {
    private let nanoseconds = Mutex<[UInt64]>([])

    static var now: UInt64 {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    func add(sentAs text: String) {
      let now = Self.now
      if let sent = UInt64(text) { nanoseconds.withLock { $0.append(now - sent) } }
    }

    var count: Int { nanoseconds.withLock(\.count) }
    var median: UInt64 { nanoseconds.withLock { $0.isEmpty ? 0 : $0.sorted()[$0.count / 2] } }
  }

  /// A program that follows the table's changes, as any may.
  final class Thread: Sendable {
    private let isOver = Atomic(false)

    init(_ table: Table, _ delays: Delays) {
      let keys = Array("key:".utf8)
      Task.detached { [self] in
        var changes = BlockingChanges(table, from: table.version, prefix: keys)
        while !isOver.load(ordering: .relaxed) {
          guard let change = try changes.next(timeout: .milliseconds(200)), let key = change.key else { continue }
          if let value = try table.get(key, as: String.self) { delays.add(sentAs: value) }
        }
      }
    }

    func stop() { isOver.store(true, ordering: .relaxed) }
  }
#endif
