#if Etcd
  import EtcdMessages
  import FoundationEssentials
  import GRPCCore
  import GRPCNIOTransportHTTP2Posix

  /// A user of etcd beside the mirror: writes, and reads as of a revision.
  struct EtcdUser {
    private let client: GRPCClient<HTTP2ClientTransport.Posix>
    private let kv: Etcdserverpb_KV.Client<HTTP2ClientTransport.Posix>

    /// Runs `body` with a user of a member.
    static func with<R: Sendable>(_ server: EtcdServer, _ body: (EtcdUser) async throws -> R) async throws -> R {
      let transport = try HTTP2ClientTransport.Posix(
        target: .ipv4(address: "127.0.0.1", port: server.port), transportSecurity: .plaintext,
        config: .defaults {
          $0.backoff = .init(initial: .milliseconds(50), max: .milliseconds(200), multiplier: 1.5, jitter: 0.1)
        })
      return try await withGRPCClient(transport: transport) {
        try await body(EtcdUser(client: $0, kv: .init(wrapping: $0)))
      }
    }

    private var options: CallOptions {
      var options = CallOptions.defaults
      options.timeout = .seconds(60)
      options.waitForReady = true
      options.maxRequestMessageBytes = 256 << 20
      options.maxResponseMessageBytes = 256 << 20
      return options
    }

    /// Changes keys in one revision; nil removes. Tries again until it is acknowledged: the same revision may be made twice then.
    /// - Returns: the revision.
    @discardableResult
    func commit(_ changes: [(key: String, value: String?)]) async throws -> Int64 {
      while true {
        if let answer = try await commitOnce(changes) { return answer.revision }
      }
    }

    /// Changes keys in one revision, if a key has the value that is expected; nil: if it is absent. Asks once.
    /// - Returns: whether it was made, and as which revision; nil if no answer came: it may have been made, or may yet be.
    func commitOnce(
      _ changes: [(key: String, value: String?)], if expected: (key: String, value: String?)? = nil
    ) async throws -> (isMade: Bool, revision: Int64)? {
      let request = Etcdserverpb_TxnRequest.with {
        $0.compare = expected.map { [Self.comparison($0.key, $0.value)] } ?? []
        $0.success = changes.map { change in
          .with { operation in
            if let value = change.value {
              operation.requestPut = .with {
                $0.key = Data(change.key.utf8)
                $0.value = Data(value.utf8)
              }
            } else {
              operation.requestDeleteRange = .with { $0.key = Data(change.key.utf8) }
            }
          }
        }
      }
      return try await once {
        let answer = try await kv.txn(request, options: options)
        return (answer.succeeded, answer.header.revision)
      }
    }

    private static func comparison(_ key: String, _ value: String?) -> Etcdserverpb_Compare {
      .with {
        $0.key = Data(key.utf8)
        $0.result = .equal
        if let value {
          ($0.target, $0.value) = (.value, Data(value.utf8))
        } else {
          ($0.target, $0.createRevision) = (.create, 0)
        }
      }
    }

    /// - Returns: nil if the member is gone for the moment.
    private func once<R: Sendable>(_ call: () async throws -> R) async throws -> R? {
      do { return try await call() } catch let error as RPCError
        where error.code == .unavailable || error.code == .unknown
      {
        return nil
      }
    }

    /// What is below a prefix at a revision, by the key without the prefix.
    func contents(_ prefix: String, at revision: Int64) async throws -> [String: String] {
      try await range(prefix, at: revision).contents
    }

    /// What is below a prefix now, and the revision of that; nil if no answer came.
    func contentsOnce(_ prefix: String) async throws -> (revision: Int64, contents: [String: String])? {
      try await once { try await range(prefix, at: 0) }
    }

    private func range(
      _ prefix: String, at revision: Int64
    ) async throws -> (revision: Int64, contents: [String: String]) {
      let answer = try await kv.range(
        .with {
          $0.key = Data(prefix.utf8)
          $0.rangeEnd = Self.end(prefix)
          $0.revision = revision
        }, options: options)
      let contents = answer.kvs.filter { $0.key.count > prefix.utf8.count }.map {
        (Self.name($0.key, prefix), String(decoding: $0.value, as: UTF8.self))
      }
      return (answer.header.revision, Dictionary(uniqueKeysWithValues: contents))
    }

    private static func end(_ prefix: String) -> Data {
      var end = Data(prefix.utf8)
      end[end.count - 1] += 1
      return end
    }

    private static func name(_ key: Data, _ prefix: String) -> String {
      String(decoding: key.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    // MARK: - Events

    /// What one revision made of one key; nil: it was removed.
    struct Event: Sendable {
      let revision: Int64
      /// Without the prefix.
      let key: String
      let value: String?
    }

    /// All that happened below a prefix, from etcd's first revision to the newest one there.
    func events(_ prefix: String) async throws -> [Event] {
      // Events are read on to a revision of our own.
      let last = try await commit([(prefix + "end", "")])
      let request = Etcdserverpb_WatchRequest.with {
        $0.createRequest = .with {
          $0.key = Data(prefix.utf8)
          $0.rangeEnd = Self.end(prefix)
          $0.startRevision = 1
        }
      }
      return try await Etcdserverpb_Watch.Client(wrapping: client).watch(
        request: StreamingClientRequest { writer in
          try await writer.write(request)
          // The stream stays open until the answers have been read.
          while !Task.isCancelled { try await Task.sleep(for: .seconds(60)) }
        }, options: options
      ) { answer in
        var events: [Event] = []
        for try await message in answer.messages {
          for event in message.events {
            if event.kv.modRevision >= last { return events }
            let value = event.type == .delete ? nil : String(decoding: event.kv.value, as: UTF8.self)
            events.append(Event(revision: event.kv.modRevision, key: Self.name(event.kv.key, prefix), value: value))
          }
        }
        throw Failure("the stream of events has ended before revision \(last)")
      }
    }
  }
#endif
