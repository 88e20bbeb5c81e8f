import Glibc
public import SharedTable
public import TestSupport
public import Testing

/// A worker that has the table open.
public func worker(
  _ table: Table, _ access: String = "participant", timeoutSeconds: Int = 900
) throws -> WorkerProcess {
  let worker = try WorkerProcess("table-worker", timeoutSeconds: timeoutSeconds)
  try worker.ask("open \(table.name) \(access)", expecting: "ok")
  return worker
}

/// What is stopped stays so, however long the others wait for it. That it was not is an issue.
public func stop(_ process: WorkerProcess, sourceLocation: SourceLocation = #_sourceLocation) {
  process.kill(SIGSTOP)
  // The signal is on its way until the process is seen to have stopped.
  var info = siginfo_t()
  var result: Int32
  repeat { result = waitid(P_PID, id_t(process.pid), &info, WSTOPPED | WNOWAIT) } while result != 0 && errno == EINTR
  if result != 0 {
    Issue.record("not stopped: \(String(cString: strerror(errno)))", sourceLocation: sourceLocation)
  }
}
