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
      let request = Etcdserverpb_TxnRequest.with {
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
      while true {
        do {
          return try await kv.txn(request, options: options).header.revision
        } catch let error as RPCError where error.code == .unavailable || error.code == .unknown {
          // The member is gone for the moment.
          continue
        }
      }
    }

    /// What is below a prefix at a revision, by the key without the prefix.
    func contents(_ prefix: String, at revision: Int64) async throws -> [String: String] {
      var end = Data(prefix.utf8)
      end[end.count - 1] += 1
      let answer = try await kv.range(
        .with {
          $0.key = Data(prefix.utf8)
          $0.rangeEnd = end
          $0.revision = revision
        }, options: options)
      return Dictionary(
        uniqueKeysWithValues: answer.kvs.filter { $0.key.count > prefix.utf8.count }.map {
          (
            String(decoding: $0.key.dropFirst(prefix.utf8.count), as: UTF8.self),
            String(decoding: $0.value, as: UTF8.self)
          )
        })
    }
  }
#endif
