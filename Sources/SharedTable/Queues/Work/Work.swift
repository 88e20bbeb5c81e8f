import Dispatch
import Synchronization

/// What a closure returned or threw. Without its type: so everything between submitting and telling is code that knows no types.
/// (Unspecialised generic code looks types up at run time; that took half of a submission's instructions.)
@usableFromInline typealias WorkResult = Result<WorkValue?, any Error>

/// Asynchronous work: a submission that a worker thread takes, what came of it, and who wants to know.
@usableFromInline
class Work: Submission, @unchecked Sendable {
  // Sendable because `result` belongs to the thread that has claimed the work until `progress` says that it has ended, and does not
  // change from then on. What a subclass adds says there to whom it belongs.
  final let timeoutNanoseconds: UInt64
  /// The queue that runs this work. The work tells that queue's error handler of a failure when its last handle is gone
  /// and none has asked for the result.
  ///
  /// Not counted, since each counting would move the line with the queue's references from the submitter's processor to the lane's and back.
  /// Until the work has ended, one of these holds the queue, or the work would not go on:
  /// - a thread in a synchronous section of the queue, or the task that awaits the work;
  /// - the pool, for a turn that was asked for, or its list of queues that stepped back;
  /// - the lane of a turn under way, or a host actor's executor;
  /// - the queue itself, while it is suspended.
  ///
  /// After that only the work's ``WorkItem`` needs it, and holds it.
  final unowned(unsafe) let queue: BarrierQueue
  private final var result: WorkResult?
  /// Flags, and above them the observers (``WorkObserver``): an address, whose lowest four bits are 0. None once the work has ended.
  private final let progress = Atomic<UInt>(0)

  private static var hasEnded: UInt { 1 }
  /// Somebody looked at the result, or will.
  private static var isLookedAt: UInt { 2 }
  /// Nobody has a handle any more, so nobody new will look.
  private static var isHandleGone: UInt { 4 }
  /// It is known who brings the result.
  private static var isClaimed: UInt { 8 }
  private static var flags: UInt { 15 }

  /// - Parameter timeout: for its wait for the table; nil = the table's.
  @inline(__always)
  init(
    _ kind: Kind, _ queue: BarrierQueue, _ timeout: Duration?, isBarrierWork: Bool = false,
    waitsForReaders: Bool = false
  ) {
    timeoutNanoseconds = queue.table.nanoseconds(timeout)
    unsafe self.queue = queue
    super.init(kind, isBarrierWork: isBarrierWork, waitsForReaders: waitsForReaders)
  }

  // For work that never ended: in a forked child nobody takes it.
  deinit { _ = WorkObserver.take(progress.load(ordering: .relaxed) & ~Self.flags) }

  final var timeout: Duration { .nanoseconds(Int64(clamping: timeoutNanoseconds)) }

  // MARK: - Ending

  /// Whether the caller is to bring the result: the thread whose turn it is, right before it calls the closure or tells why it does
  /// not, or who cancels the work. The other of the two leaves it alone.
  final func claim() -> Bool {
    // PAIR work-claim. Other end: Work.unclaim. Acquires: a thread that had claimed it before has let go of the closure, whose memory may
    // now be given back. What the claimer does to the result, Work.tell releases.
    progress.bitwiseOr(Self.isClaimed, ordering: .acquiring).oldValue & Self.isClaimed == 0
  }

  /// It is known who brings the result. No order: who sees it does nothing with what the claimer does.
  final var isClaimed: Bool { progress.load(ordering: .relaxed) & Self.isClaimed != 0 }

  /// Called by the thread that has claimed it: what the closure did is undone, and it will be claimed once more.
  final func unclaim() {
    // PAIR work-claim. Other end: Work.claim. Releases: this thread's last look at the closure comes before.
    progress.bitwiseAnd(~Self.isClaimed, ordering: .releasing)
  }

  /// Ends the work with an error, and tells its observers: the closure will not run, or what it changed could not be committed. Called once,
  /// by the thread that has claimed the work.
  final func fail(_ error: any Error) {
    setResult(.failure(error))
    tell()
  }

  /// Once, by the thread that has claimed it. Nobody sees the result before ``tell()``.
  final func setResult(_ result: consuming WorkResult) { self.result = result }

  /// Tells of the result; called after ``setResult(_:)``.
  override final func tell() {
    var seen = progress.load(ordering: .relaxed)
    var hasSwapped = false
    while !hasSwapped {
      // PAIR work-result. Other end: Work.ended; also Work.observe, Work.handleIsGone. Releases the result: who finds that the
      // work has ended would else see none. Acquires what Work.observe released, the observers' contents.
      (hasSwapped, seen) = progress.weakCompareExchange(
        expected: seen, desired: seen & Self.flags | Self.hasEnded, ordering: .acquiringAndReleasing)
    }
    let observers = seen & ~Self.flags
    let isForNobody = seen & (Self.isLookedAt | Self.isHandleGone) == Self.isHandleGone
    // Most work ends before anybody asks: then the result is not copied.
    if observers != 0 { tell(observers) }
    if isForNobody { reportFailure() }
  }

  private final func tell(_ observers: UInt) {
    guard let result else { return }
    for observer in WorkObserver.take(observers) { observer.tell(result) }
  }

  // MARK: - Looking

  /// The result once there is one.
  final var ended: WorkResult? {
    // PAIR work-result. Other end: Work.tell.
    progress.load(ordering: .acquiring) & Self.hasEnded == 0 ? nil : result
  }

  /// Calls `tell` with the result: at once if there is one, else on the thread that brings it.
  final func observe(_ tell: @escaping @Sendable (WorkResult) -> Void) {
    let observer = WorkObserver(tell)
    let reference = unsafe Unmanaged.passRetained(observer)
    let address = unsafe UInt(bitPattern: reference.toOpaque())
    // PAIR work-result. Other end: Work.tell. Acquires the result, as the exchange does where it fails.
    var seen = progress.load(ordering: .acquiring)
    while seen & Self.hasEnded == 0 {
      observer.older = seen & ~Self.flags
      let hasSwapped: Bool
      // Releases the observer's contents to Work.tell, which takes them.
      (hasSwapped, seen) = progress.weakCompareExchange(
        expected: seen, desired: address | seen & Self.flags | Self.isLookedAt,
        successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
      if hasSwapped { return }
    }
    unsafe reference.release()
    // No order: it is for Work.handleIsGone, which comes after the last handle's last use.
    progress.bitwiseOr(Self.isLookedAt, ordering: .relaxed)
    if let result { tell(result) }
  }

  /// Called by the last handle.
  @usableFromInline
  final func handleIsGone() {
    guard unsafe queue.segment.with({ $0.isOfThisProcess }) else { return }
    // PAIR work-result. Other end: Work.tell. Whichever of the two comes second reports.
    let seen = progress.bitwiseOr(Self.isHandleGone, ordering: .acquiringAndReleasing).oldValue
    if seen & (Self.hasEnded | Self.isLookedAt) == Self.hasEnded { reportFailure() }
  }

  private final func reportFailure() {
    if case .failure(let error)? = result { report(error) }
  }

  /// A cancelled item is no error: somebody wanted it so.
  @inline(never)
  private final func report(_ error: any Error) {
    if !(error is CancellationError) { unsafe queue.failures.add(error) }
  }

  /// What threads sleep on, by work: one for all that wait for it, and for all their waits. An observer of each wait would be left in
  /// the list when its time is over.
  private static let waits = Locked<[ObjectIdentifier: DispatchGroup]>([:])

  /// Sleeps until there is a result.
  /// - Returns: nil when the time is over.
  final func wait(_ deadline: Deadline) -> WorkResult? {
    // No order: as in `observe`.
    progress.bitwiseOr(Self.isLookedAt, ordering: .relaxed)
    if let ended { return ended }
    let id = ObjectIdentifier(self)
    let (done, isNew) = Self.waits.withLock { waits in
      if let done = waits[id] { return (done, false) }
      let done = DispatchGroup()
      done.enter()
      waits[id] = done
      return (done, true)
    }
    if isNew {
      observe { _ in
        Self.waits.withLock { $0[id] = nil }
        done.leave()
      }
    }
    _ = done.wait(timeout: deadline.dispatchTime)
    return ended
  }

  /// Suspends until there is a result, which is of that type.
  nonisolated(nonsending) final func value<R: Sendable>(as type: R.Type = R.self) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      observe { continuation.resume(with: $0.typed(R.self)) }
    }
  }
}

extension WorkResult {
  /// - Parameter type: what the work's closure returns.
  func typed<R: Sendable>(_ type: R.Type) -> Result<R, any Error> {
    map { boxed in
      guard let value = (boxed?.value ?? ()) as? R else {
        preconditionFailure("the work's closure returned another type")
      }
      return value
    }
  }
}
