import Glibc
import SharedTable
import Synchronization
import TestSupport
import Testing

typealias StringCache = SharedCache<String, String>

/// Runs `body` with a new table; looks the table over afterwards.
func withTable(
  _ variant: Table.Variant, capacityBytes: Int = 16 << 20, clock: TestClock? = nil, _ body: (Table) throws -> Void
) throws {
  try withTableName { (name: String) throws -> Void in
    var read: (@Sendable () -> UInt64)?
    if let clock { read = { @Sendable in clock.now } }
    let table = try Table.create(
      name, .init(variant: variant, capacityBytes: capacityBytes), timeout: .seconds(200), clock: read)
    try body(table)
    #expect(try table.check() == [])
  }
}

func withTable(_ variant: Table.Variant, _ body: (Table) async throws -> Void) async throws {
  try await withTableName { (name: String) async throws -> Void in
    let table = try Table.create(name, .init(variant: variant, capacityBytes: 16 << 20), timeout: .seconds(200))
    try await body(table)
    #expect(try table.check() == [])
  }
}

/// A worker that has the table open, and in it the cache "c".
func worker(_ table: Table, limit: Int = 100, timeoutSeconds: Int = 300) throws -> WorkerProcess {
  let worker = try WorkerProcess("table-worker", timeoutSeconds: timeoutSeconds)
  try worker.ask("open \(table.name)", expecting: "ok")
  try worker.ask("cache c \(limit)", expecting: "ok")
  return worker
}

/// What is wrong with the ledger of the cache "c".
func problems(_ table: Table) throws -> [String] {
  try table.read { view in try view.cacheProblems("c") }
}

/// A clock that stands still until the test moves it.
final class TestClock: @unchecked Sendable {
  // Sendable because one thread at a time uses it.
  var now: UInt64 = 1_000_000_000_000
  func advance(_ seconds: UInt64) { now += seconds * 1_000_000_000 }
}

/// The table error that `body` throws; nil if it throws none.
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

/// Runs `body` on so many threads at once.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  final class Start: Sendable {
    let index: Int
    let body: @Sendable (Int) -> Void
    init(_ index: Int, _ body: @escaping @Sendable (Int) -> Void) {
      self.index = index
      self.body = body
    }
  }
  let threads = (0..<count).map { index in
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { argument in
        let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
        start.body(start.index)
        return nil
      }, Unmanaged.passRetained(Start(index, body)).toOpaque())
    return thread
  }
  for thread in threads { pthread_join(thread, nil) }
}

/// What is stopped stays so, however long the others wait for it.
func stop(_ process: WorkerProcess) {
  process.kill(SIGSTOP)
  // The signal is on its way until the process is seen to have stopped.
  var info = siginfo_t()
  waitid(P_PID, id_t(process.pid), &info, WSTOPPED | WNOWAIT)
}

final class Counter: Sendable {
  private let value = Atomic(0)
  func add() { value.add(1, ordering: .relaxed) }
  var count: Int { value.load(ordering: .relaxed) }
}
