import Glibc
import SharedTable
import Synchronization
import TestSupport
import Testing

func withTable(
  _ variant: Table.Variant, capacityBytes: Int = 16 << 20, _ body: (Table) throws -> Void
) throws {
  try withTableName { (name: String) throws -> Void in
    let table = try Table.create(
      name, Table.Options(variant: variant, capacityBytes: capacityBytes), timeout: .seconds(200))
    try body(table)
    #expect(try table.check() == [])
  }
}

func withTable(
  _ variant: Table.Variant, _ body: @Sendable (Table) async throws -> Void
) async throws {
  try await withTableName { (name: String) async throws -> Void in
    let table = try Table.create(
      name, Table.Options(variant: variant, capacityBytes: 16 << 20), timeout: .seconds(200))
    try await body(table)
    #expect(try table.check() == [])
  }
}

func withQueue(
  _ variant: Table.Variant, limit: Int = BarrierQueue.defaultLimit,
  errorHandler: (@Sendable (any Error) -> Void)? = nil, _ body: (BarrierQueue) throws -> Void
) throws {
  try withTable(variant) { table throws in
    let queue = try BarrierQueue(table, label: "org.example.test", limit: limit, errorHandler: errorHandler)
    try body(queue)
    waitUntil { queue.isIdle }
  }
}

func withQueue(
  _ variant: Table.Variant, limit: Int = BarrierQueue.defaultLimit,
  _ body: @Sendable (BarrierQueue) async throws -> Void
) async throws {
  try await withTable(variant) { table async throws in
    let queue = try BarrierQueue(table, label: "org.example.test", limit: limit)
    try await body(queue)
    while !queue.isIdle { await Task.yield() }
  }
}

/// A worker that has the table open.
func worker(_ table: Table, timeoutSeconds: Int = 240) throws -> WorkerProcess {
  let worker = try WorkerProcess("table-worker", timeoutSeconds: timeoutSeconds)
  try worker.ask("open \(table.name)", expecting: "ok")
  return worker
}

/// What is stopped stays so, however long the others wait for it.
func stop(_ process: WorkerProcess) {
  process.kill(SIGSTOP)
  var info = siginfo_t()
  waitid(P_PID, id_t(process.pid), &info, WSTOPPED | WNOWAIT)
}

/// Runs `body` in a thread of its own, which is joined by ``join()`` or when this object goes.
final class TestThread: Sendable {
  private let body: Locked<(@Sendable () throws -> Void)?>
  private let failure = Locked<(any Error)?>(nil)
  private let thread = Locked<pthread_t?>(nil)

  init(_ body: @escaping @Sendable () throws -> Void) {
    self.body = Locked(body)
    var thread = pthread_t()
    let started = pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<TestThread>.fromOpaque(argument!).takeUnretainedValue().run()
        return nil
      }, Unmanaged.passUnretained(self).toOpaque())
    precondition(started == 0, "no thread: \(started)")
    self.thread.withLock { $0 = thread }
  }

  deinit { joinThread() }

  private func run() {
    do { try body.withLock { $0.take() }!() } catch { failure.withLock { $0 = error } }
  }

  private func joinThread() {
    if let thread = thread.withLock({ $0.take() }) { pthread_join(thread, nil) }
  }

  /// What it throws is of no concern.
  func joinQuietly() { joinThread() }

  func join() throws {
    joinThread()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}

/// Waits for what other threads are about to do; 60 seconds at most, for a failure instead of a hang.
func waitUntil(_ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
  var waited = 0
  while !condition() {
    if waited > 120_000 {
      Issue.record("it never came to pass", sourceLocation: sourceLocation)
      return
    }
    waited += 1
    usleep(500)
  }
}

/// A door that many wait at until somebody opens it.
final class Door: Sendable {
  private let opened = Atomic(false)
  func open() { opened.store(true, ordering: .releasing) }
  func wait() { waitUntil { opened.load(ordering: .acquiring) } }
  var isOpen: Bool { opened.load(ordering: .acquiring) }
}

final class Counter: Sendable {
  private let count = Atomic(0)
  func increment() { count.add(1, ordering: .sequentiallyConsistent) }
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
}

/// What several threads noted, in order.
final class Notes<T: Sendable>: Sendable {
  private let notes = Locked<[T]>([])
  func add(_ note: T) { notes.withLock { $0.append(note) } }
  func clear() { notes.withLock { $0 = [] } }
  var all: [T] { notes.withLock { $0 } }
}

/// The error that `body` throws; nil if none, or another than the table's.
func error(_ body: () throws -> Void) -> TableError? {
  do {
    try body()
    return nil
  } catch let error as TableError {
    return error
  } catch {
    Issue.record("another error: \(error)")
    return nil
  }
}

struct Refusal: Error, Equatable {}

/// Numbers that depend on a seed alone (splitmix64).
struct Seeded: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
