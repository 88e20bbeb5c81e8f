import Glibc
import SharedTable
import Synchronization

/// Commands of iterations by several threads, for the tests of what a fork does to them.
func scanAnswer(_ words: [String]) throws -> String {
  switch words[0] {
  case "scan-fork": return forkInScan()
  case "scan-sizes":
    // How many keys begin with a word, and how long their values are together.
    return try table.read { view in
      var (keys, bytes) = (0, 0)
      try view.forEach(prefix: words[1]) { _, entry in
        keys += 1
        bytes += entry.bytes.byteCount
      }
      return "\(keys) keys, \(bytes) bytes"
    }
  case "scan-size":
    return try table.read { view in
      guard let bytes = try view.bytes(forKey: words[1]) else { return "nil" }
      return "\(bytes.byteCount)"
    }
  case "scan-limit-memory": return limitMemory(beyondUse: Int(words[1])!)
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

/// Leaves the process so many bytes of address space beyond what it has.
private func limitMemory(beyondUse bytes: Int) -> String {
  var line = [UInt8](repeating: 0, count: 64)
  let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
  defer { close(file) }
  let count = max(0, read(file, &line, line.count))
  guard let pages = Int(String(decoding: line[..<count].prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)) else {
    return "no size in /proc/self/statm"
  }
  let size = rlim_t(pages * sysconf(Int32(_SC_PAGESIZE)) + bytes)
  var limit = rlimit(rlim_cur: size, rlim_max: size)
  return setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 ? "ok" : "setrlimit: error \(errno)"
}
