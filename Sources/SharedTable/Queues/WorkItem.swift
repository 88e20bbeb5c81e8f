public import Dispatch
public import TableEngine

/// A handle on a piece of asynchronous work of a ``BarrierQueue`` or of an accessor of ``Guarded`` values, in the manner
/// of `DispatchWorkItem`.
///
/// May be used from any thread, and dropped: the work goes on. If it fails and nobody ever looked (no
/// ``wait(timeout:)``, ``notify(queue:execute:)`` or ``value``), the queue's error handler is told when the last handle
/// is gone; for accessors, that writes a line to standard error.
///
/// In a child that was forked since, the work never ends: its thread stayed in the parent.
public final class WorkItem<R: Sendable>: Sendable {
  /// Its result is an `R`.
  @usableFromInline let work: Work
  /// The queue that runs the work.
  @usableFromInline let queue: BarrierQueue
  /// By which handle whoever asked for the work knows the table; nil: by the queue's.
  @usableFromInline let chosen: Table?

  @inlinable
  init(_ work: Work, of queue: BarrierQueue, _ chosen: Table? = nil) {
    self.work = work
    self.queue = queue
    self.chosen = chosen
  }

  private var table: Table { chosen ?? queue.table }

  // A forked child tells nobody that the handle is gone. Inlinable, so that the handle of work that is submitted and forgotten is
  // no object at all.
  @inlinable
  deinit {
    // The work does not hold its queue, which is told of a failure here.
    withExtendedLifetime(queue) { unsafe UncountedReference(work).with { $0.handleIsGone() } }
  }

  /// Whether it has ended: with a result, an error, or cancelled. Never blocks.
  public var isFinished: Bool { table.isOfThisProcess && work.ended != nil }

  /// Blocks until the work has ended.
  ///
  /// A barrier that has ended is committed, and is seen by every section that begins anywhere on the host (G4).
  /// - Parameter timeout: nil = the table's. When it is over, the work goes on; wait again, or cancel it.
  /// - Returns: what the closure returned.
  /// - Throws: what the closure threw, what its section threw (as ``BarrierQueue/sync(timeout:_:)`` does),
  ///   `CancellationError` if it was cancelled; `timedOut`; `forked`; `wouldDeadlock` inside a section of the same
  ///   table on this thread, unless the work has ended already: it might be waiting for that section.
  @available(*, noasync, message: "use `await value`")
  public func wait(timeout: Duration? = nil) throws -> R {
    try queue.checkProcess()
    if !isFinished { try queue.checkOutsideSections(toDo: "waiting for asynchronous work") }
    guard let result = work.wait(Deadline(table.nanoseconds(timeout))) else {
      throw queue.timedOut(waitingFor: "asynchronous work")
    }
    return try result.typed(R.self).get()
  }

  /// Calls `block` on `queue` with the result when the work has ended; at once if it has. Never blocks.
  public func notify(queue: DispatchQueue, execute block: @escaping @Sendable (Result<R, any Error>) -> Void) {
    whenFinished { result in queue.async { block(result) } }
  }

  /// As ``notify(queue:execute:)``, on whatever thread ends the work, or on this one: for short and harmless blocks.
  package func whenFinished(_ block: @escaping @Sendable (Result<R, any Error>) -> Void) {
    if table.isOfThisProcess { work.observe { block($0.typed(R.self)) } }
  }

  /// What the closure returned, once it has ended. Suspends and never blocks; cancelling the task that awaits it
  /// cancels neither the work nor the wait.
  /// - Throws: what the closure or its section threw; `CancellationError` if the work was cancelled; `forked`.
  public var value: R {
    get async throws {
      try queue.checkProcess()
      return try await work.value()
    }
  }

  /// Takes the work out of its queue if its closure has not begun, or was undone for want of room (`full`) and has not begun again: it runs no
  /// more, and has changed nothing. A task or thread that waits for it gets `CancellationError` at once, also while the work waits for the table
  /// or its keys. What has begun runs to its end. Never blocks.
  /// - Returns: whether it was taken out.
  @discardableResult
  public func cancel() -> Bool { queue.cancel(work) }
}
