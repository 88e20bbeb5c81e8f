#if Etcd
  import GRPCCore
  import GRPCNIOTransportHTTP2Posix
  import Synchronization
  import TableMirror

  /// Connections to a member for single calls, beside the one of the stream of events.
  ///
  /// etcd answers a call with a PING, by which it measures the path; the transport ends a connection that brings more than 200 in half a
  /// minute, for fear of a flood (swift-nio-http2 1.46, and it cannot be told otherwise). So a connection is used for fewer calls, and
  /// then another takes its place.
  final class EtcdCalls: Sendable {
    typealias Transport = HTTP2ClientTransport.Posix

    private static let mostCalls = 100

    /// A connection that is used.
    private struct Line {
      let client: GRPCClient<Transport>
      /// Runs it until it has been told to end, and its calls have ended.
      let running: Task<Void, Never>
      var begun = 0
    }

    private struct State {
      var line: Line?
      /// Calls under way, by their connection.
      var underWay: [ObjectIdentifier: Int] = [:]
      /// Those before the one that is used have ended.
      var ended: Task<Void, Never>?
      var isClosed = false
    }

    private let state = Mutex(State())
    private let makeTransport: @Sendable () throws -> Transport

    init(_ makeTransport: @escaping @Sendable () throws -> Transport) { self.makeTransport = makeTransport }

    /// Runs one call.
    func run<R: Sendable>(_ body: (GRPCClient<Transport>) async throws -> R) async throws -> R {
      let client = try begin()
      defer { end(client) }
      return try await body(client)
    }

    private func begin() throws -> GRPCClient<Transport> {
      try state.withLock { state in
        guard !state.isClosed else { throw MirrorFailure.away("the session has ended") }
        if state.line?.begun ?? Self.mostCalls >= Self.mostCalls {
          let client = GRPCClient(transport: try makeTransport())
          Self.retire(&state)
          state.line = Line(client: client, running: Task { try? await client.runConnections() })
        }
        state.line!.begun += 1
        let client = state.line!.client
        state.underWay[ObjectIdentifier(client), default: 0] += 1
        return client
      }
    }

    private func end(_ client: GRPCClient<Transport>) {
      state.withLock { state in
        let name = ObjectIdentifier(client)
        state.underWay[name]! -= 1
        guard state.underWay[name] == 0 else { return }
        state.underWay[name] = nil
        if state.line?.client !== client { client.beginGracefulShutdown() }
      }
    }

    /// The connection that is used is used no more; it ends when its calls have. A call that was begun and not sent yet would fail
    /// if it ended now.
    private static func retire(_ state: inout State) {
      guard let line = state.line else { return }
      state.line = nil
      if state.underWay[ObjectIdentifier(line.client)] == nil { line.client.beginGracefulShutdown() }
      let before = state.ended
      state.ended = Task {
        await before?.value
        await line.running.value
      }
    }

    /// Ends all connections. Returns when their calls have ended, too.
    func close() async {
      let ended = state.withLock { state in
        state.isClosed = true
        Self.retire(&state)
        return state.ended
      }
      await ended?.value
    }
  }
#endif
