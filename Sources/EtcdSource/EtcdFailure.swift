#if Etcd
  import EtcdMessages
  import GRPCCore
  import TableMirror
  import UpstreamWrites

  /// What an error of a call means to a mirror.
  struct EtcdFailure {
    let failure: any Error

    init(_ error: any Error, _ peer: String) {
      switch error {
      case let error as RPCError: failure = Self.failure(error, peer)
      case is MirrorFailure, is CancellationError: failure = error
      default: failure = MirrorFailure.away("\(peer): \(error)")
      }
    }

    private static func failure(_ error: RPCError, _ peer: String) -> any Error {
      // An error that `receive` threw comes back inside one of the call's.
      if let inner = error.cause as? MirrorFailure { return inner }
      switch error.code {
      case .cancelled where Task.isCancelled: return CancellationError()
      case .outOfRange where error.message.contains("compacted"): return MirrorFailure.compacted
      case .resourceExhausted where error.message.contains("larger") || error.message.contains("exceed"):
        return MirrorFailure.answerTooLarge
      case .deadlineExceeded: return MirrorFailure.noAnswerInTime(words(error, peer))
      default: return MirrorFailure.away(words(error, peer))
      }
    }

    private static func words(_ error: RPCError, _ peer: String) -> String {
      "\(peer): \(error.code): \(error.message)\(error.cause.map { " (\($0))" } ?? "")"
    }

    /// What an error of a commit means: whether it is known that nothing was changed.
    static func refusal(_ error: any Error, _ peer: String) -> UpstreamRefusal {
      // A token could not be had: the commit itself was refused for want of it.
      if let failure = error as? MirrorFailure { return .away("\(failure)") }
      guard let error = error as? RPCError else { return .unsure("\(peer): \(error)") }
      let words = "\(peer): \(error.message)"
      switch error.code {
      case .invalidArgument where error.isAboutToken: return .away(words)
      // No room in its database. A member looks twice, and says the same when it has carried the transaction out meanwhile.
      case .resourceExhausted where error.message.contains("space exceeded"): return .unsure(words)
      // Too many keys, too large, too many requests: said before anything is changed.
      case .invalidArgument, .resourceExhausted, .failedPrecondition, .outOfRange, .unimplemented:
        return .refused(words)
      case .permissionDenied, .unauthenticated: return .notPermitted(words)
      // A member without a leader looks at nothing else. What found no connection, "Channel is" something else than ready, was not sent.
      case .unavailable where error.message.contains("no leader") || error.message.hasPrefix("Channel is"):
        return .away(words)
      default: return .unsure("\(peer): \(error.code): \(error.message)")
      }
    }

    /// Why the member ends a stream of events; nil if it does not.
    static func cancelling(_ message: Etcdserverpb_WatchResponse, _ peer: String) -> MirrorFailure? {
      guard message.canceled else { return nil }
      if message.compactRevision > 0 { return .compacted }
      let reason = message.cancelReason.isEmpty ? "for no reason that it gives" : message.cancelReason
      return .away("\(peer): ended the stream of events: \(reason)")
    }
  }

  extension RPCError {
    /// The token is none, has expired, or is of users and roles as they were before they were changed.
    var isAboutToken: Bool {
      code == .unauthenticated || (code == .invalidArgument && message.contains("revision of auth store is old"))
    }
  }
#endif
