#if Etcd
  import EtcdMessages
  import GRPCCore
  import GRPCNIOTransportHTTP2Posix
  import Synchronization
  import TableMirror
  import UpstreamWrites

  /// A connection to a member of the cluster.
  struct EtcdSession: MirrorSession {
    typealias Transport = HTTP2ClientTransport.Posix
    private typealias KV = Etcdserverpb_KV.Client<Transport>

    let peer: String
    private let prefix: [UInt8]
    /// Of the stream of events.
    private let client: GRPCClient<Transport>
    private let calls: EtcdCalls
    private let password: (user: String, password: String)?
    private let shared = Shared()

    /// What changes in a session's time.
    private final class Shared: Sendable {
      let token = Mutex<String?>(nil)
      /// Wakes who sends on the stream of events.
      let progress = Mutex<AsyncStream<Void>.Continuation?>(nil)
    }

    /// A call that takes longer has failed: the member hangs, or the cluster has no leader.
    private static let callTimeout = Duration.seconds(5)
    /// A page is about a megabyte, and one whose values are larger than the ones before at most so much.
    private static let largestAnswer = 64 << 20

    init(
      _ client: GRPCClient<Transport>, _ calls: EtcdCalls, _ endpoint: MirrorAddress.Endpoint, prefix: [UInt8],
      _ password: (user: String, password: String)?
    ) {
      self.client = client
      self.calls = calls
      peer = endpoint.description
      self.prefix = prefix
      self.password = password
    }

    // MARK: - Calls

    /// Gets a token for the user, if there is one.
    func authenticate() async throws {
      guard let password else { return }
      let request = Etcdserverpb_AuthenticateRequest.with {
        $0.name = password.user
        $0.password = password.password
      }
      do {
        let answer = try await calls.run { client in
          try await Etcdserverpb_Auth.Client(wrapping: client).authenticate(request, options: Self.options)
        }
        shared.token.withLock { $0 = answer.token }
      } catch {
        throw EtcdFailure(error, peer).failure
      }
    }

    /// Runs a call with the token, and once more with a new one if that has expired.
    private func call<R: Sendable>(_ body: (KV, Metadata) async throws -> R) async throws -> R {
      do { return try await callOfKV(body) } catch { throw EtcdFailure(error, peer).failure }
    }

    private func callOfKV<R: Sendable>(_ body: (KV, Metadata) async throws -> R) async throws -> R {
      try await withToken { client, metadata in try await body(KV(wrapping: client), metadata) }
    }

    private func withToken<R: Sendable>(
      _ body: (GRPCClient<Transport>, Metadata) async throws -> R
    ) async throws -> R {
      do {
        return try await calls.run { try await body($0, metadata) }
      } catch let error as RPCError where error.isAboutToken && password != nil {
        try await authenticate()
        return try await calls.run { try await body($0, metadata) }
      }
    }

    private var metadata: Metadata {
      // A member without a leader refuses instead of answering from what it has.
      var metadata: Metadata = ["hasleader": "true"]
      if let token = shared.token.withLock({ $0 }) { metadata.addString(token, forKey: "token") }
      return metadata
    }

    private static var options: CallOptions {
      var options = CallOptions.defaults
      options.timeout = callTimeout
      options.maxResponseMessageBytes = largestAnswer
      // The transport bounds answers by the limit for requests, too.
      options.maxRequestMessageBytes = largestAnswer
      return options
    }

    // MARK: - Reading

    func position() async throws -> SourcePosition {
      // A key that there may not be is as good as any: the answer's header counts, which the whole cluster stands behind.
      let request = Etcdserverpb_RangeRequest.with {
        $0.key = EtcdRange(prefix: prefix).start
        $0.countOnly = true
        $0.limit = 1
      }
      let answer = try await call { kv, metadata in
        try await kv.range(request, metadata: metadata, options: Self.options)
      }
      return SourcePosition(answer.header)
    }

    func read(
      into page: ContentPage, after key: [UInt8]?, at revision: Int64, limit: Int
    ) async throws -> (position: SourcePosition, hasMore: Bool) {
      let range = EtcdRange(prefix: prefix)
      let request = Etcdserverpb_RangeRequest.with {
        $0.key = key.map(EtcdRange.next) ?? range.start
        $0.rangeEnd = range.end
        $0.revision = revision
        $0.limit = Int64(limit)
      }
      let answer = try await call { kv, metadata in
        try await kv.range(request, metadata: metadata, options: Self.options)
      }
      for kv in answer.kvs { page.append(key: kv.key, value: kv.value, lease: kv.lease) }
      return (SourcePosition(answer.header), answer.more)
    }

    func timeLeft(ofLease lease: Int64) async throws -> LeaseTTL {
      let request = Etcdserverpb_LeaseTimeToLiveRequest.with { $0.id = lease }
      let answer: Etcdserverpb_LeaseTimeToLiveResponse
      do {
        answer = try await withToken { client, metadata in
          try await Etcdserverpb_Lease.Client(wrapping: client).leaseTimeToLive(
            request, metadata: metadata, options: Self.options)
        }
      } catch {
        throw EtcdFailure(error, peer).failure
      }
      return LeaseTTL(etcdSeconds: answer.ttl)
    }

    // MARK: - Writing

    func commit(
      _ commit: UpstreamCommit, timeout: Duration
    ) async throws(UpstreamRefusal) -> UpstreamCommit.Outcome {
      let request = EtcdTransaction(commit, prefix: prefix).request
      var options = Self.options
      options.timeout = min(timeout, Self.callTimeout)
      let answer: Etcdserverpb_TxnResponse
      do {
        // What is refused for its token was not carried out: once more is not twice.
        answer = try await callOfKV { kv, metadata in
          try await kv.txn(request, metadata: metadata, options: options)
        }
      } catch {
        throw EtcdFailure.refusal(error, peer)
      }
      guard answer.header.revision >= commit.revision else {
        throw .unsure("\(peer): it is at revision \(answer.header.revision), and the table at \(commit.revision)")
      }
      return EtcdTransaction.outcome(answer)
    }

    // MARK: - Events

    func watch(
      from revision: Int64, _ receive: @Sendable (WatchAnswer) async throws -> Void
    ) async throws {
      let (wishes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
      shared.progress.withLock { $0 = continuation }
      defer { continuation.finish() }
      let range = EtcdRange(prefix: prefix)
      let request = StreamingClientRequest<Etcdserverpb_WatchRequest>(metadata: metadata) { writer in
        try await writer.write(
          .with {
            $0.createRequest = .with {
              $0.key = range.start
              $0.rangeEnd = range.end
              $0.startRevision = revision
              $0.fragment = true
            }
          })
        for await _ in wishes { try await writer.write(.with { $0.progressRequest = .init() }) }
      }
      var options = Self.options
      options.timeout = nil
      do {
        try await withoutActuallyEscaping(receive) { receive in
          try await Etcdserverpb_Watch.Client(wrapping: client).watch(request: request, options: options) { answer in
            for try await message in answer.messages {
              if let failure = EtcdFailure.cancelling(message, peer) { throw failure }
              try await receive(WatchAnswer(message))
            }
          }
        }
      } catch {
        throw EtcdFailure(error, peer).failure
      }
    }

    func requestProgress() async { _ = shared.progress.withLock { $0?.yield() } }
  }
#endif
