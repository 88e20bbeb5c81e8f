import CShims
import Glibc
import SharedTable
import Synchronization
import TableEngine
import TestSupport
import Testing

/// A table of either variant; its invariants are checked afterwards.
func withTable(
  _ variant: Table.Variant, capacityBytes: Int = 4 << 20, _ body: (Table) throws -> Void
) throws {
  try withTableName { (name: String) throws -> Void in
    let table = try Table.create(
      name, .init(variant: variant, capacityBytes: capacityBytes), timeout: .seconds(200))
    try body(table)
    #expect(try table.check() == [])
  }
}

/// A worker that has the table open.
func worker(_ table: Table, _ access: String = "participant", timeoutSeconds: Int = 240) throws -> WorkerProcess {
  let worker = try WorkerProcess("table-worker", timeoutSeconds: timeoutSeconds)
  try worker.ask("open \(table.name) \(access)", expecting: "ok")
  return worker
}

/// The code of the error that `body` throws; nil if it throws none.
func code<R>(_ body: () throws -> R) -> TableError.Code? {
  do {
    _ = try body()
    return nil
  } catch let error as TableError {
    return error.code
  } catch {
    Issue.record("another error: \(error)")
    return nil
  }
}

/// Long enough that only a defect makes a wait end by it.
let longNanoseconds: UInt64 = 30_000_000_000

/// A thread of its own that runs a closure, for what blocks.
final class TestThread: @unchecked Sendable {
  // Sendable because the result is written before the thread ends and read after it was joined.
  private let body: @Sendable () throws -> Bool
  private var outcome: Result<Bool, any Error> = .success(false)
  private var thread = pthread_t()
  private let number = Atomic<Int32>(0)

  init(_ body: @escaping @Sendable () throws -> Bool) {
    self.body = body
    let started = pthread_create(
      &thread, nil,
      { argument in
        let thread = Unmanaged<TestThread>.fromOpaque(argument!).takeRetainedValue()
        thread.number.store(shmos_tid(), ordering: .releasing)
        thread.outcome = Result { try thread.body() }
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    precondition(started == 0, "no thread: \(started)")
  }

  func join() throws -> Bool {
    pthread_join(thread, nil)
    return try outcome.get()
  }

  /// Returns when the thread sleeps in a system call, or has ended.
  func waitUntilAsleep() {
    while true {
      let number = number.load(ordering: .acquiring)
      guard number != 0 else {
        sched_yield()
        continue
      }
      guard let stat = fopen("/proc/self/task/\(number)/stat", "r") else { return }
      var line = [CChar](repeating: 0, count: 512)
      fgets(&line, Int32(line.count), stat)
      fclose(stat)
      let text = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if let end = text.lastIndex(of: ")"), "SZX".contains(text[end...].dropFirst(2).prefix(1)) { return }
      sched_yield()
    }
  }
}
