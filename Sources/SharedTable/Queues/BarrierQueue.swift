import Dispatch
import Glibc
import Synchronization
public import TableEngine

/// GCD's concurrent queue with barriers, over a table and so across processes.
///
/// A *read* runs on one snapshot of the table, beside other reads. A *barrier* runs alone on the whole host, and its
/// changes become visible all at once or, if it throws or its process dies, not at all.
///
/// Within one queue object the order is that of a concurrent `DispatchQueue` (G4): a barrier begins when everything
/// that was submitted before it has finished, what is submitted after it waits for it, and a read after an
/// asynchronous barrier sees what that one did. Across queue objects and processes: a section that begins after
/// another's barrier has ended sees it. Two queues over one table exclude each other's barriers, and know nothing of
/// each other's order.
///
/// ```swift
/// let queue = try BarrierQueue(in: table, label: "org.example.settings")
/// try queue.async(flags: .barrier) { tx in try tx.set("greeting", "hello") }
/// let greeting = try queue.sync { view in try view.get("greeting", as: String.self) }  // "hello"
/// ```
///
/// Use it from any thread. `sync` bodies run on the calling thread; it blocks, which on the main thread holds up
/// everything that the program does there. Asynchronous sections run on a few threads that all queues of the process
/// share and that exist only while there is work. A queue that waits for nothing costs no thread.
///
/// There are no priorities: what waits keeps its place, and neither the table's lock nor the shared threads take over
/// the priority of who waits for them. A thread of low priority that is preempted in its barrier delays the others.
///
/// A read inside a read section of the same table on the same thread joins it and never waits. Inside a barrier it throws `wouldDeadlock`, as does
/// whatever else would wait for its own thread, at once (G11). Every wait for the table has a timeout, whose error names the holder. Asynchronous
/// work waits for its turn in the queue without one; cancel it, or its task, to give up.
///
/// A process that ends by `exit`, as by returning from `main`, first does the asynchronous work that was submitted, for as long
/// as the table's timeout. One that is ended by a signal or `_exit` loses what had not begun, and nothing by halves.
///
/// After `fork()` the child's queues throw `forked`; make new ones over a table that was opened again. If the parent has done asynchronous
/// work, in whatever queue, `async` throws `unsupported` in the child, and so does an `await` form that would not run at once.
public final class BarrierQueue: Sendable {
  /// The table that its sections are of.
  public let table: Table
  /// The queue's name in reverse-DNS form, as `org.example.settings`; errors show it, and `shmctl stat` while a barrier of the queue runs.
  public let label: String
  let barrierLabel: BarrierLabel?
  /// What errors begin with. Nil for a queue of the library's own whose table says enough: who gets its errors has made no
  /// queue.
  let subject: String?
  /// How much asynchronous work may wait at a time: for its turn or, committed, for readers (`.barrierWaitingForReaders`).
  public let limit: Int
  @usableFromInline let gate: FastGate
  /// The table's, which holds it. The segment is referred to weakly, so each counted use costs more than a look at a value.
  @usableFromInline let segment: UncountedReference<Segment>
  /// It is made for one piece of work, so nothing shares that one's barrier.
  let isOfOneCall: Bool
  /// What `await` forms may do on the task's thread: in the RCU variant nobody waits who is let in.
  @usableFromInline let runsAtOnce: Bool
  /// Its barriers first try for the table in a thread of Dispatch's pool, and go to a lane only if they would have to wait there.
  private let triesInPool: Bool
  /// Where lanes, and the last handles of work, report failures that the program can no longer look at.
  let failures: FailureReport
  /// Changed by ``withOrder(_:)``. The exit handler holds it too: it asks also a queue whose end has begun.
  let order: Locked<SubmissionOrder>
  /// What the order says, for a lane between two barriers of a group: it looks without the lock. Relaxed: a barrier that it takes up in
  /// the moment in which it is suspended has begun before.
  let isSuspended = Atomic(false)
  /// The thread that runs a job in a barrier's place, by its address; 0 while none does. Only that thread finds its own address, so relaxed.
  private let jobThread = Atomic<UInt>(0)
  /// Asynchronous work was submitted to it. Only saves registering again, so relaxed.
  let isFlushedAtExit = Atomic(false)

  /// How much asynchronous work may wait where the queue's maker does not say: 16,384 items.
  public static var defaultLimit: Int { 16_384 }

  /// Makes a queue over a table; any number may share one. Costs some hundred bytes, and no thread.
  /// - Parameters:
  ///   - label: two or more parts with dots between them, each of letters, digits, `_` and `-`; at most 200 bytes.
  ///   - limit: how much asynchronous work may wait, barriers that wait for readers counted too. With more, `async` throws `queueFull`
  ///     and the `await` forms suspend until there is room.
  ///   - errorHandler: the library calls it with each failure of asynchronous work whose ``WorkItem`` the program has dropped unasked, on a
  ///     thread of Dispatch's, with one failure after the other; it may block and use the queue. By default the library writes a line to standard
  ///     error; of equal ones in a row only the first, the tenth, the hundredth and so on.
  ///   - table: where it lies.
  /// - Throws: `invalid` for a label or limit that cannot be.
  public convenience init(
    in table: Table, label: String, limit: Int = defaultLimit,
    errorHandler: (@Sendable (any Error) -> Void)? = nil
  ) throws(TableError) {
    guard Self.isReverseDNS(label) else {
      throw TableError(
        .invalid, table: table.name,
        "'\(label)' cannot label a queue; use a reverse-DNS name such as 'org.example.settings'")
    }
    guard limit > 0 else {
      throw TableError(.invalid, table: table.name, "a queue's limit is at least 1, not \(limit)")
    }
    self.init(table, label: label, subject: "queue '\(label)'", limit: limit, errorHandler: errorHandler)
  }

  /// A queue that the library makes for itself.
  /// - Parameters:
  ///   - subject: what errors begin with, in the words of whoever gets them; nil = nothing but the table.
  ///   - triesInPool: for barriers that are about as short as what Dispatch's pool is there for.
  convenience init(in table: Table, subject: String?, limit: Int = defaultLimit, triesInPool: Bool = false) {
    self.init(table, label: "", subject: subject, limit: limit, triesInPool: triesInPool, errorHandler: nil)
  }

  /// A queue for one call of the library's.
  convenience init(forOneCallOn table: Table) {
    self.init(table, label: "", subject: nil, limit: Self.defaultLimit, isOfOneCall: true, errorHandler: nil)
  }

  private init(
    _ table: Table, label: String, subject: String?, limit: Int, triesInPool: Bool = false, isOfOneCall: Bool = false,
    errorHandler: (@Sendable (any Error) -> Void)?
  ) {
    self.table = table
    self.label = label
    self.subject = subject
    barrierLabel = label.isEmpty ? nil : BarrierLabel(label)
    unsafe segment = UncountedReference(table.segment)
    runsAtOnce = table.variant == .rcu && !table.isObserver
    self.triesInPool = triesInPool && runsAtOnce
    self.isOfOneCall = isOfOneCall
    self.limit = limit
    failures = FailureReport(subject ?? "table '\(table.name)'", handler: errorHandler)
    let gate = FastGate()
    self.gate = gate
    order = Locked(SubmissionOrder(gate, limit: limit))
  }

  deinit {
    if isFlushedAtExit.load(ordering: .relaxed) { ExitFlush.forget(self) }
    gate.deallocate()
  }

  static func isReverseDNS(_ label: String) -> Bool {
    let parts = label.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count >= 2 && label.utf8.count <= 200
      && parts.allSatisfy { part in
        !part.isEmpty && part.allSatisfy { $0 < 0x80 && (isAlphanumeric($0) || $0 == 0x2d || $0 == 0x5f) }
      }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool { isalnum(Int32(byte)) != 0 }

  // MARK: - Order

  /// Changes the order, then has threads take up what may begin.
  ///
  /// A child forked from this process may have inherited the lock locked, and waits for nobody: it must not come here.
  func withOrder<R: Sendable>(_ change: (inout SubmissionOrder) -> R) -> R { withOrderInlined(change) }

  /// As ``withOrder(_:)``, inlined: every submission passes here.
  @inline(__always)
  func withOrderInlined<R: Sendable>(_ change: (inout SubmissionOrder) -> R) -> R {
    let (result, turns) = order.withLock { order in
      order.takeOverGate()
      let result = change(&order)
      order.giveGateBack()
      return (result, order.ready.count > 0 ? Self.turnsToRequest(&order) : 0)
    }
    if turns > 0 { request(turns) }
    return result
  }

  private static func turnsToRequest(_ order: inout SubmissionOrder) -> Int {
    order.turnsToRequest(width: WorkerPool.shared.width, mostWaiting: WorkerPool.shared.mostWaiting)
  }

  /// Dispatch's pool. Each `global()` makes an object anew.
  private static let pool = DispatchQueue.global()

  private func request(_ turns: Int) {
    guard triesInPool else { return WorkerPool.shared.request(turns, of: self) }
    for _ in 0..<turns { Self.pool.async { self.runTurnInPool() } }
  }

  /// Nobody waits in it, runs in it, or has its work done by it.
  package var isIdle: Bool {
    order.withLock { order in
      order.waiting.count + order.ready.count + order.outside.count + order.reads + order.barriers == 0
        && (!gate.isClosed || order.suspensions > 0)
    } && gate.isEmpty
  }

  func noteJobThread() { jobThread.store(UInt(pthread_self()), ordering: .relaxed) }
  func forgetJobThread() { jobThread.store(0, ordering: .relaxed) }
  /// Does the calling thread run a job of this queue? What it does then comes before all that was submitted later.
  var isInOwnJob: Bool { jobThread.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// A barrier waits or runs, or a job; or the queue is suspended. One load.
  package var isClosed: Bool { gate.isClosed }
  /// How many threads run its asynchronous work, or are about to: for tests.
  package var turns: Int { order.withLock { $0.turnsRequested + $0.turnsUnderWay } }
  /// How many of them wait for the table: for tests.
  package var turnsWaiting: Int { order.withLock { $0.turnsWaiting } }
  /// How many lanes of the process may be at work or idle, and how many are idle: for tests.
  package static var lanes: (limit: Int, idle: Int) { (WorkerPool.shared.limit, WorkerPool.shared.idle) }
  /// Its barrier left its lane, for too many wait for the table: for tests.
  package var isSteppedBack: Bool { order.withLock { $0.isSteppedBack } }
  /// Asynchronous work that has not begun, or runs.
  var pendingCount: Int { order.withLock { $0.pendingWorkCount } }
  /// Something of it was suspended and not resumed: see ``suspend()``.
  var hasSuspensions: Bool { order.withLock { $0.suspensions > 0 } }
  package var waitingCount: Int { order.withLock { $0.waiting.count } }
}
