// What a worker does with the thread that watches tables: it begins with the first watch and ends with the last.

import Glibc
import SharedTable
import Synchronization
import TestSupport

/// Nil for a command that is not one of these.
func watcherAnswer(_ words: [String]) throws -> String? {
  switch words[0] {
  // watch-at-once ROUNDS: in each, two threads begin to watch where nobody did, and wait for what is there.
  case "watch-at-once":
    try inPairs(rounds: Int(words[1])!) {
      guard let watch = try? Watch(table) else { return }
      let flag = FutexFlag()
      try? watch.wait(for: .commit(after: 0)) { flag.raise() }
      flag.wait()
    } before: {
      while watcherThreads() > 0 { sched_yield() }
      return true
    }
    return "ok"
  // watch-without-threads ROUNDS: two threads begin to watch while no thread can be started. Where one of them is told so and the
  // other is not, the latter is woken by the failure of the other at most, told so when it waits again, and waits once threads can be
  // had.
  case "watch-without-threads":
    let watches = Mutex<[Watch]>([])
    var restore: (() -> Void)?
    var hasBegun = false
    let isLimited = Atomic(false)
    let isSpinning = Atomic(false)
    try inPairs(rounds: Int(words[1])!) {
      guard isLimited.load(ordering: .acquiring) else {
        // A thread's first allocation maps more than it keeps: the limit would be as much too high.
        return watches.withLock { $0.reserveCapacity($0.capacity + 1) }
      }
      guard let watch = try? Watch(table) else { return }
      watches.withLock { $0.append(watch) }
      if waits(by: watch), waits(by: watch) { isSpinning.store(true, ordering: .relaxed) }
    } before: {
      // Once the two threads have theirs, and have done a round.
      if hasBegun, restore == nil {
        restore = limitAddressSpace()
        isLimited.store(true, ordering: .releasing)
      }
      hasBegun = true
      return watches.withLock { $0.isEmpty }
    }
    restore?()
    if isSpinning.load(ordering: .relaxed) { return "woken again and again" }
    let lucky = watches.withLock { $0 }
    for watch in lucky {
      let flag = FutexFlag()
      try watch.wait(for: .commit(after: table.version)) { flag.raise() }
      try table.set("key", "value")
      flag.wait()
    }
    return "\(lucky.count)"
  default: return nil
  }
}

/// Waits for a commit that does not come.
/// - Returns: false if it was told that there is no thread to wait.
private func waits(by watch: Watch) -> Bool {
  let flag = FutexFlag()
  guard (try? watch.wait(for: .commit(after: table.version)) { flag.raise() }) != nil else { return false }
  flag.wait()
  return true
}

/// Where two threads meet, round by round.
private final class Meeting: Sendable {
  let round = Atomic(0)
  let done = Atomic(0)
}

/// Has two threads do something at once, round by round, as long as `goesOn` says.
private func inPairs(rounds: Int, _ body: @escaping @Sendable () -> Void, before goesOn: () -> Bool) throws {
  let meeting = Meeting()
  let threads = (0..<2).map { _ in
    TestThread {
      var round = 0
      while true {
        while meeting.round.load(ordering: .acquiring) == round { sched_yield() }
        round = meeting.round.load(ordering: .acquiring)
        if round == Int.max { return }
        body()
        meeting.done.add(1, ordering: .releasing)
      }
    }
  }
  for round in 1...rounds where goesOn() {
    meeting.round.store(round, ordering: .releasing)
    while meeting.done.load(ordering: .acquiring) < 2 * round { sched_yield() }
  }
  meeting.round.store(Int.max, ordering: .releasing)
  for thread in threads { try thread.join() }
}

/// Leaves too little for a thread's stack.
/// - Returns: what takes the limit away.
private func limitAddressSpace() -> () -> Void {
  var old = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &old)
  var statm = [UInt8](repeating: 0, count: 128)
  let file = open("/proc/self/statm", O_RDONLY)
  let count = read(file, &statm, statm.count)
  close(file)
  let pages = UInt(String(decoding: statm[..<count].prefix { $0 != 0x20 }, as: UTF8.self))!
  var new = old
  new.rlim_cur = pages * UInt(getpagesize()) + 1 << 20
  setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &new)
  return { setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &old) }
}
