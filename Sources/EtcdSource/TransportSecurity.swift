#if Etcd
  import GRPCNIOTransportHTTP2Posix
  import TableMirror

  /// What protects a connection, from the files as they are now.
  struct TransportSecurity {
    let posix: HTTP2ClientTransport.Posix.TransportSecurity

    /// - Throws: `away` if a file cannot be read: it may be there at the next try.
    init(_ address: MirrorAddress, _ access: MirrorAccess) throws(MirrorFailure) {
      guard address.isSecure else {
        posix = .plaintext
        return
      }
      let roots = try access.authorities.map { path throws(MirrorFailure) in try Self.certificate(path) }
      let chain = try access.certificate.map { path throws(MirrorFailure) in try Self.certificate(path) }
      let key = try access.key.map { path throws(MirrorFailure) in
        TLSConfig.PrivateKeySource.bytes(try MirrorAccess.contents(path), format: .pem)
      }
      posix = .tls(
        .defaults { config in
          if let roots { config.trustRoots = .certificates([roots]) }
          if let chain { config.certificateChain = [chain] }
          config.privateKey = key
        })
    }

    private static func certificate(_ path: String) throws(MirrorFailure) -> TLSConfig.CertificateSource {
      .bytes(try MirrorAccess.contents(path), format: .pem)
    }
  }
#endif
