// What a worker does with a queue over the table it has open.

import Dispatch
import Glibc
import SharedTable
import Synchronization
import TestSupport

nonisolated(unsafe) private var madeQueue: BarrierQueue?
private var queue: BarrierQueue {
  get throws {
    if let madeQueue { return madeQueue }
    let made = try BarrierQueue(in: table, label: "org.example.worker")
    madeQueue = made
    return made
  }
}

/// Nil for a command that is not one of these.
func queueAnswer(_ words: [String]) throws -> String? {
  func timeout(_ index: Int) -> Duration? { words.count > index ? .milliseconds(Int(words[index])!) : nil }
  switch words[0] {
  case "queue-barrier":
    try queue.sync(flags: .barrier, timeout: timeout(1)) { tx in try inside(&tx) }
    return "ok"
  case "queue-read":
    try queue.sync(timeout: timeout(1)) { view in try inside(view) }
    return "ok"
  case "queue-increments":
    let item = try (0..<Int(words[2])!).map { _ in
      let key = words[1]
      return try queue.async(flags: .barrier) { tx in try tx.increment(key) }
    }.last!
    return "\(try item.wait(timeout: .seconds(30)))"
  case "queue-submit":
    // Over a handle of its own timeout, if one is named.
    if let timeout = timeout(2) {
      madeQueue = try BarrierQueue(
        in: Table.open(table.name, access: .participant, timeout: timeout), label: "org.example.worker")
    }
    for _ in 0..<Int(words[1])! {
      try queue.async(flags: .barrier, timeout: .seconds(60)) { tx in try tx.increment("n") }
    }
    return "submitted"
  case "queue-suspend":
    // One of two barriers has begun, and waits for the table, when the queue is suspended. The test is told when the process
    // is about to wait for it at its end: of handlers the last one made is called first.
    let read = DispatchSemaphore(value: 0)
    try queue.async { _ in read.wait() }
    for _ in 0..<2 { try queue.async(flags: .barrier, timeout: .seconds(60)) { tx in try tx.increment("n") } }
    read.signal()
    while try queue.turnsWaiting == 0 { sched_yield() }
    try queue.suspend()
    atexit { say("ends") }
    return "suspended"
  case "queue-fail":
    // Equal but for numbers, as errors with a time in them are.
    struct Failure: Error { let number: Int }
    for number in 0..<Int(words[1])! { try queue.async(flags: .barrier) { _ in throw Failure(number: number) } }
    return "submitted"
  case "queue-group":
    // Asynchronous barriers that follow each other, the last of which stops in its closure and says how many were
    // committed before its group: a slow machine may need more than one.
    let count = Int(words[1])!
    let versions = Mutex<[UInt64]>([])
    let read = DispatchSemaphore(value: 0)
    try queue.async { _ in read.wait() }
    for index in 1...count {
      try queue.async(flags: .barrier) { tx in
        try tx.increment("n")
        let version = try queue.table.version
        let earlier = versions.withLock { versions in
          versions.append(version)
          return versions.count { $0 != version }
        }
        guard index == count else { return }
        say("in \(earlier)")
        while true { sleep(1000) }
      }
    }
    read.signal()
    while true { sleep(1000) }
  case "queue-nest":
    // Barriers over two tables, one in the other; between them the test has its say.
    let inner = try BarrierQueue(in: Table.open(words[1], access: .participant), label: "org.example.inner")
    let timeout = timeout(2)
    return try queue.sync(flags: .barrier) { _ in
      say("in")
      _ = nextCommand()
      return try inner.sync(flags: .barrier, timeout: timeout) { _ in "both" }
    }
  case "queue-fork":
    let parents = try queue
    if words.count > 1 {
      // With work done before, so that the child has the handle of something that has ended, and no threads.
      let item = try parents.async(flags: .barrier) { tx in try tx.increment("n") }
      _ = try item.wait()
      let look = Guarded("n", in: table, default: 0).accessor { $0 }
      return forked {
        let end = outcome { try "\(item.wait())" }
        let refusals = [end, outcome { "\(try look.accessAsync().wait())" }]
        let again = outcome {
          let opened = try Table.open(table.name, access: .participant)
          return "\(try look.accessSync(on: opened)) \(try look.accessAsync(on: opened).wait())"
        }
        return "\(item.isFinished) \((refusals + [again]).joined(separator: " "))"
      }
    }
    return forked {
      let refusals = [
        outcome { try parents.sync { _ in "read" } },
        outcome { try parents.sync(flags: .barrier) { _ in "barrier" } },
        outcome { try parents.async { _ in "read" }.wait() },
      ]
      let mine = outcome {
        let again = try BarrierQueue(in: Table.open(table.name, access: .participant), label: "org.example.child")
        try again.sync(flags: .barrier) { tx in try tx.set("k", "mine") }
        return try again.async { view in shown(try view.get("k")) }.wait()
      }
      return (refusals.map { $0.split(separator: " ").last.map(String.init) ?? "" } + [mine]).joined(separator: " ")
    }
  case "queue-fork-inside":
    return try forkInside(words[1])
  case "queue-lanes":
    return try askAmongIdleLanes()
  case "queue-busy-lanes":
    return try writeAmongBusyLanes()
  case "queue-wait-for-readers":
    // So many barriers that wait for readers, and then work of another table.
    for _ in 0..<Int(words[1])! {
      try queue.async(flags: .barrierWaitingForReaders, timeout: .seconds(600)) { tx in try tx.increment("n") }
    }
    try queue.flush(timeout: .seconds(60))
    let other = try BarrierQueue(in: Table.temporary(), label: "org.example.other")
    return "\(try other.async(flags: .barrier) { tx in try tx.increment("n") }.wait(timeout: .seconds(60)))"
  case "queue-threads":
    let before = threadCount()
    let idle = try (0..<1000).map { try BarrierQueue(in: table, label: "org.example.idle\($0)") }
    for queue in idle { try queue.sync(flags: .barrier) { _ in } }
    let withIdle = threadCount()
    let busy = try (0..<Int(words[1])!).map { try BarrierQueue(in: table, label: "org.example.busy\($0)") }
    var items: [WorkItem<Int>] = []
    for _ in 0..<4 {
      for queue in busy {
        items.append(try queue.async { _ in threadCount() })
        items.append(try queue.async(flags: .barrier) { _ in threadCount() })
      }
    }
    return "\(before) \(withIdle) \(try items.map { try $0.wait(timeout: .seconds(30)) }.max()!)"
  case "queue-memory":
    let count = Int(words[1])!
    try queue.sync(flags: .barrier) { _ in }
    let before = residentBytes()
    var queues: [BarrierQueue] = []
    queues.reserveCapacity(count)
    for index in 0..<count { queues.append(try BarrierQueue(in: table, label: "org.example.\(index)")) }
    let made = residentBytes()
    for queue in queues {
      try queue.sync { _ in }
      try queue.sync(flags: .barrier) { _ in }
    }
    return "\((made - before) / count) \((residentBytes() - before) / count)"
  case "queue-ends":
    // So many queues end, each about when its last work does, while the exit handler asks which of them have work.
    let areAllGone = Atomic(false)
    let looker = TestThread { while !areAllGone.load(ordering: .relaxed) { _ = BarrierQueue.countBusyAtExit } }
    for index in 0..<Int(words[1])! {
      try BarrierQueue(in: table, label: "org.example.q\(index)").async(flags: .barrier) { _ in }.wait()
    }
    areAllGone.store(true, ordering: .relaxed)
    try looker.join()
    return "ended"
  case "queue-poll":
    // Asks so often for what does not end.
    try queue.suspend()
    let item = try queue.async { _ in }
    func ask() { do { try item.wait(timeout: .zero) } catch {} }
    ask()
    let before = residentBytes()
    for _ in 0..<Int(words[1])! { ask() }
    let after = residentBytes()
    try queue.resume()
    try item.wait()
    return "\(after - before)"
  default: return nil
  }
}

private func threadCount() -> Int {
  guard let directory = opendir("/proc/self/task") else { return -1 }
  defer { closedir(directory) }
  var count = 0
  while readdir(directory) != nil { count += 1 }
  return count - 2
}

private func residentBytes() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return -1 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  guard fgets(&line, 256, file) != nil else { return -1 }
  let words = line.split(separator: 0x20)
  return Int(String(decoding: words[1].map { UInt8(bitPattern: $0) }, as: UTF8.self))! * Int(getpagesize())
}

/// An asynchronous closure forks, and its child returns from it. Another closure follows.
/// - Returns: how often that one ran and the end of the first was told, and how the child ended.
private func forkInside(_ kind: String) throws -> String {
  var ends: [Int32] = [0, 0]
  pipe(&ends)
  let (input, output) = (ends[0], ends[1])
  let child = Atomic<pid_t>(0)
  let fork: @Sendable () -> Void = {
    let pid = cFork()
    // A child that goes on would wait for ever.
    if pid == 0 { alarm(60) } else { child.store(pid, ordering: .relaxed) }
  }
  try queue.suspend()
  let item =
    switch kind {
    case "barrier": try queue.async(flags: .barrier) { _ in fork() }
    case "read": try queue.async { _ in fork() }
    default: try queue.async(keys: ["k"]) { _ in fork() }
    }
  let told = DispatchSemaphore(value: 0)
  item.whenFinished { _ in
    _ = write(output, "x", 1)
    told.signal()
  }
  let next = try queue.async(flags: .barrier) { _ in _ = write(output, "x", 1) }
  try queue.resume()
  try next.wait(timeout: .seconds(60))
  told.wait()
  var status: Int32 = 0
  waitpid(child.load(ordering: .relaxed), &status, 0)
  close(output)
  var bytes = [UInt8](repeating: 0, count: 16)
  return "\(read(input, &bytes, bytes.count)) \(status)"
}

/// One lane waits, and all that may be at work are idle. It waits no longer, runs on, and then another queue has work.
private func askAmongIdleLanes() throws -> String {
  let limit = BarrierQueue.lanes.limit
  let (hold, release, begun, goOn) = (
    DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
  )
  let holder = TestThread {
    try table.barrier(keys: ["k"]) { _ in
      hold.signal()
      release.wait()
    }
  }
  hold.wait()
  let keyed = try queue.async(keys: ["k"], timeout: .seconds(600)) { _ in
    begun.signal()
    goOn.wait()
  }
  while try queue.turnsWaiting == 0 { sched_yield() }
  let queues = try (0..<5).map { try BarrierQueue(in: table, label: "org.example.q\($0)") }
  let inside = Mutex(0)
  let reads = try (0..<limit).map { index in
    try queues[index % 5].async { _ in
      inside.withLock { $0 += 1 }
      while inside.withLock({ $0 }) < limit { sched_yield() }
    }
  }
  for read in reads { try read.wait(timeout: .seconds(60)) }
  while BarrierQueue.lanes.idle < limit { sched_yield() }
  release.signal()
  begun.wait()
  defer { goOn.signal() }
  try queues[0].async { _ in }.wait(timeout: .seconds(60))
  try holder.join()
  _ = keyed
  return "ok"
}

/// The table is held, and all lanes are at work, as a task writes.
/// - Returns: what becomes of the writes, which may wait 100 ms, and whether they are done later.
private func writeAmongBusyLanes() throws -> String {
  let (hold, release, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  let holder = TestThread {
    try table.barrier { _ in
      hold.signal()
      release.wait()
    }
  }
  hold.wait()
  let limit = BarrierQueue.lanes.limit
  let queues = try (0..<5).map { try BarrierQueue(in: table, label: "org.example.q\($0)") }
  let inside = Mutex(0)
  let reads = try (0..<limit).map { index in
    try queues[index % 5].async { _ in
      inside.withLock { $0 += 1 }
      leave.wait()
    }
  }
  while inside.withLock({ $0 }) < limit { sched_yield() }
  let written = DispatchSemaphore(value: 0)
  let codes = Mutex<[String]>([])
  let writes: [@Sendable () async throws -> Void] = [
    { try await table.set("k", 1, timeout: .milliseconds(100)) },
    { try await table.barrier(timeout: .milliseconds(100)) { tx in try tx.set("k", 2) } },
    { _ = try await table.barrier(keys: ["k"], timeout: .milliseconds(100)) { tx in try tx.set("k", 3) } },
    { try await table.administration.sweepExpired(timeout: .milliseconds(100)) },
  ]
  Task { @Sendable in
    for write in writes {
      do {
        try await write()
        codes.withLock { $0.append("written") }
      } catch {
        codes.withLock { $0.append((error as? TableError).map { "\($0.code)" } ?? "\(error)") }
      }
    }
    written.signal()
  }
  let haveEnded = written.wait(timeout: .now() + 60) == .success
  release.signal()
  for _ in reads { leave.signal() }
  for read in reads { try read.wait(timeout: .seconds(60)) }
  try holder.join()
  if !haveEnded { written.wait() }
  // Behind what the lanes had to do.
  try table.barrier { _ in }
  let stored = try table.get("k", as: Int.self).map(String.init) ?? "nil"
  return "\(haveEnded) \(codes.withLock { $0 }.joined(separator: " ")) \(stored)"
}
