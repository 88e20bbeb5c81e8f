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
  let answers = AnswerPipe()
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
    }
    return "visited \(visits.load(ordering: .relaxed))"
  }
  let pid = child.load(ordering: .relaxed)
  if pid == 0 { answers.answer(result) }
  return "child \(answers.answer(of: pid) ?? "died"), parent \(result)"
}
