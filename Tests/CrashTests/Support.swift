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
func worker(_ table: Table, timeoutSeconds: Int = 120) throws -> WorkerProcess {
  let worker = try WorkerProcess("table-worker", timeoutSeconds: timeoutSeconds)
  try worker.ask("open \(table.name)", expecting: "ok")
  return worker
}

/// A path for a file that is removed afterwards.
func withTemporaryDirectory<R>(_ body: (String) throws -> R) throws -> R {
  var template = Array("/tmp/table-tests-XXXXXX".utf8CString)
  guard mkdtemp(&template) != nil else { throw WorkerProcess.Failure.noDirectory }
  let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  defer {
    if let directory = opendir(path) {
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        unlink("\(path)/\(name)")
      }
      closedir(directory)
    }
    rmdir(path)
  }
  return try body(path)
}

extension WorkerProcess.Failure {
  static var noDirectory: any Error { SystemFailure(errno: errno) }
  private struct SystemFailure: Error { let errno: Int32 }
}

func environment(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

/// What is stopped stays so, however long the others wait for it.
func stop(_ process: WorkerProcess) {
  process.kill(SIGSTOP)
  // The signal is on its way until the process is seen to have stopped.
  var info = siginfo_t()
  waitid(P_PID, id_t(process.pid), &info, WSTOPPED | WNOWAIT)
}
