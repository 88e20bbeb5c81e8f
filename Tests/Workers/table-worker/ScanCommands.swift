import Glibc
import SharedTable
import Synchronization

/// Commands of iterations by several threads, for the tests of what a fork does to them.
func scanAnswer(_ words: [String]) throws -> String {
  switch words[0] {
  case "scan-fork": return forkInScan()
  default: return "unknown command \(words[0])"
  }
}

/// The calling thread forks in the middle of a scan, while another one is in its closure.
private func forkInScan() -> String {
  var ends: [Int32] = [0, 0]
  pipe(&ends)
  let caller = pthread_self()
  let child = Atomic<Int32>(-1)
  let visits = Atomic(0)
  let result = outcome {
    try table.concurrentForEach(threads: 2) { _, _ in
      visits.add(1, ordering: .relaxed)
      if pthread_self() == caller {
        if child.load(ordering: .relaxed) == -1 { child.store(cFork(), ordering: .relaxed) }
      } else {
        while child.load(ordering: .relaxed) == -1 { sched_yield() }
      }
      return true
    }
    return "visited \(visits.load(ordering: .relaxed))"
  }
  let pid = child.load(ordering: .relaxed)
  if pid == 0 {
    let text = Array(result.utf8)
    _ = write(ends[1], text, text.count)
    _exit(0)
  }
  close(ends[1])
  var buffer = [UInt8](repeating: 0, count: 4096)
  let count = read(ends[0], &buffer, buffer.count)
  close(ends[0])
  var status: Int32 = 0
  while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
  return "child \(String(decoding: buffer[..<max(0, count)], as: UTF8.self)), parent \(result)"
}
