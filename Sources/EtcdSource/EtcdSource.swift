#if Etcd
  import GRPCCore
  import GRPCNIOTransportHTTP2Posix
  public import TableMirror

  /// An etcd cluster as a mirror's source.
  ///
  /// A session is a connection to one member, with the certificates and the password that lie in their files when it begins. So what
  /// was replaced there holds from the next session on.
  public struct EtcdSource: MirrorSource {
    private let address: MirrorAddress
    private let access: MirrorAccess
    /// Where hosts begin in the list of endpoints: not all with the same.
    private let firstEndpoint: Int

    private static let keepaliveTime = Duration.seconds(10)
    private static let keepaliveTimeout = Duration.seconds(5)

    public init(_ address: MirrorAddress, _ access: MirrorAccess) {
      self.address = address
      self.access = access
      firstEndpoint = .random(in: 0..<address.endpoints.count)
    }

    public func withSession(
      _ attempt: Int, _ body: @Sendable (any MirrorSession) async throws -> Void
    ) async throws {
      let endpoint = address.endpoints[(firstEndpoint + attempt) % address.endpoints.count]
      let security = try TransportSecurity(address, access)
      let makeTransport = { @Sendable () throws -> HTTP2ClientTransport.Posix in
        do {
          return try HTTP2ClientTransport.Posix(
            target: endpoint.target, transportSecurity: security.posix, config: Self.configuration)
        } catch {
          throw MirrorFailure.away("\(endpoint): \(error); are certificates and key what they should be?")
        }
      }
      let calls = EtcdCalls(makeTransport)
      do {
        try await withGRPCClient(transport: try makeTransport()) { client in
          let session = EtcdSession(client, calls, endpoint, prefix: address.prefix, try access.passwordIfAny())
          try await session.authenticate()
          try await body(session)
        }
      } catch {
        await calls.close()
        throw error
      }
      await calls.close()
    }

    private static var configuration: HTTP2ClientTransport.Posix.Config {
      .defaults { config in
        // A stream of events may be silent for hours: a dead connection shows by this.
        config.connection.keepalive = .init(time: keepaliveTime, timeout: keepaliveTimeout, allowWithoutCalls: false)
        // What is asked for is a barrier in the table: nothing is gained by collecting it.
        config.connection.flushCoalescing = nil
      }
    }
  }

  extension MirrorAddress.Endpoint {
    fileprivate var target: any ResolvableTarget {
      if host.contains(":") { return .ipv6(address: host, port: port) }
      let isNumeric = host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
      return isNumeric ? .ipv4(address: host, port: port) : .dns(host: host, port: port)
    }
  }
#endif
