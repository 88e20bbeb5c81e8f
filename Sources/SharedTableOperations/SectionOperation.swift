public import Foundation
public import SharedTable

/// What ``ReadOperation`` and ``BarrierOperation`` share: an asynchronous operation whose work is one section.
///
/// May be added to an `OperationQueue`, or started by hand, once. Occupies no thread while it waits.
public class SectionOperation<R: Sendable>: Operation, @unchecked Sendable {
  // Sendable because what changes is in `state`, and Foundation's own part says so.
  private enum Phase { case new, executing, finished }

  /// A thread, and which of its sections. A barrier is left when it is committed, and its operation may wait for readers after that.
  private struct Place: Equatable {
    var thread: pthread_t
    var barrierVersion: UInt64?

    /// Of the calling thread.
    init(on queue: BarrierQueue) {
      thread = pthread_self()
      barrierVersion = queue.versionOfOwnBarrier
    }
  }

  private struct State: Sendable {
    var phase = Phase.new
    var item: WorkItem<R>?
    /// Where its closure began last. From then on, what the closure throws is its own.
    var place: Place?
    /// Why somebody cancelled it, before it began, who could not wait for it. It does not begin after that.
    var refusal: TableError?
    var result: Result<R, any Error>?

    /// A cancellation by ``SectionOperation/waitUntilFinished()`` says why.
    func verdict(_ result: Result<R, any Error>) -> Result<R, any Error> {
      guard let refusal, case .failure(let error) = result, error is CancellationError else {
        return result
      }
      return .failure(refusal)
    }
  }

  /// Where its section runs.
  public let queue: BarrierQueue
  /// Given what the section's closure calls first.
  fileprivate typealias Submission =
    @Sendable (_ begins: @escaping @Sendable () throws(TableError) -> Void) throws(TableError) -> WorkItem<R>
  private let submit: Submission
  private let state = Locked(State())

  fileprivate init(on queue: BarrierQueue, _ submit: @escaping Submission) {
    self.queue = queue
    self.submit = submit
    super.init()
  }

  /// What its closure returned or threw, or why its section could not run: `CancellationError` if it was cancelled
  /// before it began. Nil until it is finished. Never blocks.
  public final var result: Result<R, any Error>? { state.withLock { $0.result } }

  public final override var isAsynchronous: Bool { true }
  public final override var isExecuting: Bool { state.withLock { $0.phase == .executing } }
  public final override var isFinished: Bool { state.withLock { $0.phase == .finished } }

  /// Submits the section, unless the operation is cancelled. Never blocks. A second time it does nothing.
  public final override func start() {
    willChangeValue(for: \.isExecuting)
    let isFirst = state.withLock { state in
      guard state.phase == .new else { return false }
      state.phase = .executing
      return true
    }
    didChangeValue(for: \.isExecuting)
    guard isFirst else { return }
    if isCancelled { return finish(.failure(CancellationError())) }
    do throws(TableError) {
      let item = try submit { [state, queue] () throws(TableError) in
        let place = Place(on: queue)
        let refusal = state.withLock { state in
          if state.refusal == nil { state.place = place }
          return state.refusal
        }
        if let refusal { throw refusal }
      }
      state.withLock { $0.item = item }
      // Cancelled since we looked: then cancel() may not have seen the item.
      if isCancelled { item.cancel() }
      item.whenFinished { [self] result in finish(result) }
    } catch {
      finish(.failure(error))
    }
  }

  /// Keeps the section from beginning if it has not. Never blocks.
  public final override func cancel() {
    super.cancel()
    state.withLock { $0.item }?.cancel()
  }

  /// Blocks until it is finished.
  ///
  /// Inside a section of the same table on this thread it cannot: the operation may be waiting for that very section. If it
  /// has not begun, it is cancelled then, never runs, and its ``result`` is `wouldDeadlock`. One that has begun on another thread is waited for
  /// no longer than it waits for the table itself, by its timeout; so is one whose barrier is committed, and which waits for readers. One
  /// that is the section, or shares its barrier, cannot end before it does: it is not waited for.
  public final override func waitUntilFinished() {
    guard !isFinished, let deadlock = queue.deadlock(of: "waiting for an operation") else {
      return super.waitUntilFinished()
    }
    let place = Place(on: queue)
    let (item, begun) = state.withLock { state in
      if state.place == nil { state.refusal = deadlock }
      return (state.item, state.place)
    }
    if begun == place { return }
    // One that has begun runs to its end: it is not cancelled.
    guard begun == nil else { return super.waitUntilFinished() }
    super.cancel()
    // Whoever starts it finds it cancelled; or it has just been submitted, and is refused as it begins. That may be after this section.
    item?.cancel()
  }

  private func finish(_ result: Result<R, any Error>) {
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    state.withLock { state in
      guard state.phase != .finished else { return }
      state.phase = .finished
      state.result = state.verdict(result)
      state.item = nil
    }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }
}

/// A read section of a ``BarrierQueue`` as an operation.
public final class ReadOperation<R: Sendable>: SectionOperation<R>, @unchecked Sendable {
  // Sendable because it adds nothing.

  /// Makes an operation that submits a read section to `queue` when it is started. Never blocks, and touches no table yet.
  /// - Parameters:
  ///   - queue: whose order and table it is.
  ///   - timeout: as in ``BarrierQueue/async(timeout:_:)``.
  ///   - body: runs on one snapshot, on one of the queue's threads; the view is valid until it returns. What it returns or throws is the
  ///     operation's ``SectionOperation/result``.
  public init(
    on queue: BarrierQueue, timeout: Duration? = nil, _ body: @escaping @Sendable (borrowing ReadView) throws -> R
  ) {
    super.init(on: queue) { begins throws(TableError) in
      try queue.async(timeout: timeout) { view throws in
        try begins()
        return try body(view)
      }
    }
  }
}

/// A barrier of a ``BarrierQueue`` as an operation.
public final class BarrierOperation<R: Sendable>: SectionOperation<R>, @unchecked Sendable {
  // Sendable because it adds nothing.

  /// Makes an operation that submits a barrier to `queue` when it is started. Never blocks, and touches no table yet.
  /// - Parameters:
  ///   - queue: whose order and table it is.
  ///   - flags: `.barrier`, and what else it waits for.
  ///   - timeout: as in ``BarrierQueue/async(flags:timeout:_:)-(BarrierFlags,_,(Transaction)->R)``.
  ///   - body: runs alone on the whole host, on one of the queue's threads; the transaction is valid until it returns. What it returns or
  ///     throws is the operation's ``SectionOperation/result``; when that is there, its changes are visible on the whole host. If it finds no
  ///     room in the table (`full`) in a barrier with others, it is undone and run once more, alone: it must have no effects outside the
  ///     transaction.
  public init(
    on queue: BarrierQueue, flags: BarrierFlags = .barrier, timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Transaction) throws -> R
  ) {
    super.init(on: queue) { begins throws(TableError) in
      try queue.async(flags: flags, timeout: timeout) { tx throws in
        try begins()
        return try body(&tx)
      }
    }
  }
}
