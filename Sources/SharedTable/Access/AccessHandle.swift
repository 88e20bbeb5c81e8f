import CShims
public import Dispatch
import SharedMemory
import Synchronization

/// An access under way: to wait for, to be told of, or to give up before it begins.
///
/// Belongs to the process that began it. The access goes on without its handle.
public final class AccessHandle<Output: Sendable>: Sendable {
  private enum Phase {
    case waiting
    case running
    case finished(Result<Output, any Error>)
  }

  private struct State {
    var phase = Phase.waiting
    var observers: [@Sendable (Result<Output, any Error>) -> Void] = []
  }

  private let table: Table
  private let changes: Bool
  private let state = Mutex(State())

  init(_ table: Table, changes: Bool) {
    self.table = table
    self.changes = changes
  }

  /// Whether there is a result, or an error.
  public var isFinished: Bool {
    withState { state in
      if case .finished = state.phase { true } else { false }
    }
  }

  /// Gives the access up if its section has not begun: then it ends with `CancellationError` and changes nothing. One
  /// that has begun goes on to its end. Never blocks.
  public func cancel() { finish(.failure(CancellationError())) { if case .waiting = $0 { true } else { false } } }

  /// Waits for the access to end and gives its result. Blocks the thread.
  /// - Parameter timeout: nil = the table's. The access goes on when it is over.
  /// - Throws: what the access threw, `CancellationError` if it was cancelled, `timedOut` if it has not ended in time,
  ///   `wouldDeadlock` inside a section of the table on this thread that the access cannot begin before the end of.
  @available(*, noasync, message: "blocks a thread of the cooperative pool; use 'await accessor.access()'")
  public func wait(timeout: Duration? = nil) throws -> Output {
    if let result { return try result.get() }
    if table.holdsUp(changes: changes) {
      throw TableError(
        .wouldDeadlock, table: table.name,
        "this thread is in a section of the table that the access has to wait for; wait for it after the section")
    }
    let ended = DispatchSemaphore(value: 0)
    whenFinished { _ in ended.signal() }
    let end = DispatchTime.now() + .nanoseconds(Int(table.nanoseconds(timeout)))
    guard ended.wait(timeout: end) == .success, let result else {
      throw TableError(
        .timedOut, table: table.name, "the access has not ended in time; wait again, or cancel it if it has not begun")
    }
    return try result.get()
  }

  /// Runs `body` on a queue once the access has ended. Never blocks.
  public func notify(
    queue: DispatchQueue, _ body: @escaping @Sendable (Result<Output, any Error>) -> Void
  ) {
    whenFinished { result in queue.async { body(result) } }
  }

  private var result: Result<Output, any Error>? {
    withState { state in
      if case .finished(let result) = state.phase { result } else { nil }
    }
  }

  /// Calls `observer` at the end, on the thread that ends the access; now if it has ended.
  func whenFinished(_ observer: @escaping @Sendable (Result<Output, any Error>) -> Void) {
    let result = withState { state -> Result<Output, any Error>? in
      if case .finished(let result) = state.phase { return result }
      state.observers.append(observer)
      return nil
    }
    if let result { observer(result) }
  }

  /// Runs the access, unless it was cancelled.
  func run(_ body: () throws -> Output) {
    let begins = withState { state in
      guard case .waiting = state.phase else { return false }
      state.phase = .running
      return true
    }
    if begins { finish(Result(catching: body)) { if case .running = $0 { true } else { false } } }
  }

  func fail(_ error: TableError) { finish(.failure(error)) { if case .waiting = $0 { true } else { false } } }

  private func withState<R>(_ body: (inout State) -> R) -> R {
    ForkLock.hold { state.withLock { body(&$0) } }
  }

  private func finish(_ result: Result<Output, any Error>, from isExpected: (Phase) -> Bool) {
    let observers = withState { state -> [@Sendable (Result<Output, any Error>) -> Void] in
      guard isExpected(state.phase) else { return [] }
      defer { state.observers = [] }
      state.phase = .finished(result)
      return state.observers
    }
    for observer in observers { observer(result) }
  }
}

extension Table {
  /// Whether the calling thread is in a section that keeps others from changing the table, or from reading it.
  fileprivate func holdsUp(changes: Bool) -> Bool {
    guard let record = unsafe shm_thread_find(segment.id) else { return false }
    if unsafe record.pointee.inBarrier != 0 { return changes || variant == .rwlock }
    return unsafe changes && variant == .rwlock && record.pointee.readDepth != 0
  }
}
