import Synchronization

/// What one client is to be sent that it did not ask for, until its connection's thread takes it.
///
/// Any thread adds, and has the connection's thread called once for all that is there by then. A publisher may be much faster than that
/// thread: one EXEC with many PUBLISH, or the changes of a busy table. So what waits here is bounded, as what waits for the client is.
final class Outbox: Sendable {
  /// What a publisher has to do when it has added something.
  enum Duty {
    case nothing
    /// Have the connection's thread ``take()``.
    case call
    /// End the connection: it does not keep up.
    case disconnect
  }

  private struct State {
    var pushes: [ClientRecord.Push] = []
    var byteCount = 0
    /// Nothing more is taken: the connection is ended.
    var isOverfull = false
  }

  private let limit: Int
  private let state = Mutex(State())

  /// - Parameter limit: bytes, about.
  init(limit: Int) { self.limit = limit }

  func add(_ push: ClientRecord.Push) -> Duty {
    let byteCount = push.byteCount
    return state.withLock { state in
      if state.isOverfull { return .nothing }
      guard state.byteCount + byteCount <= limit else {
        state = State(isOverfull: true)
        return .disconnect
      }
      state.byteCount += byteCount
      state.pushes.append(push)
      return state.pushes.count == 1 ? .call : .nothing
    }
  }

  /// What there is, in the order in which it was added.
  func take() -> [ClientRecord.Push] {
    state.withLock { state in
      defer { (state.pushes, state.byteCount) = ([], 0) }
      return state.pushes
    }
  }
}
