import Glibc
import SharedTable
import TestSupport
import Testing

func withTable(
  _ variant: Table.Variant, capacityBytes: Int = 16 << 20, _ body: (Table) throws -> Void
) throws {
  try withTableName { (name: String) throws -> Void in
    let options = Table.Options(variant: variant, capacityBytes: capacityBytes)
    let table = try Table.create(name, options, timeout: .seconds(30))
    try body(table)
    #expect(try table.check() == [])
  }
}

/// A worker that has the table open.
func worker(_ table: Table, timeoutSeconds: Int = 240) throws -> WorkerProcess {
  let worker = try WorkerProcess("table-worker", timeoutSeconds: timeoutSeconds)
  try worker.ask("open \(table.name)", expecting: "ok")
  return worker
}

func environment(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

/// What is stopped stays so, however long the others wait for it.
func stop(_ process: WorkerProcess) {
  process.kill(SIGSTOP)
  // The signal is on its way until the process is seen to have stopped.
  var info = siginfo_t()
  waitid(P_PID, id_t(process.pid), &info, WSTOPPED | WNOWAIT)
}
