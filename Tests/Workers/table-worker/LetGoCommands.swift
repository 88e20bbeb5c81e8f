// What a worker does to see what tables leave behind that it has let go. In a process of its own, since it counts what the
// whole process holds.

import Dispatch
import Foundation
import SharedTable
import TestSupport
import Synchronization

/// Nil for a command that is not one of these.
func letGoAnswer(_ words: [String]) throws -> String? {
  switch words[0] {
  case "let-go-opened": return try cycles(words[2]) { try use(Table.open(words[1], access: .participant)) }
  case "let-go-observed":
    return try cycles(words[2]) {
      let table = try Table.open(words[1], access: .observer)
      guard try table.get("n", as: Int.self) == 1 else { throw Abort() }
      // Each section of an observer, also one that joins another, has copies that go with it.
      try table.read { view in
        guard try view.get("n", as: Int.self) == 1 else { throw Abort() }
        guard try table.read({ inner in try inner.contains("n") }), try table.contains("n") else { throw Abort() }
        try view.concurrentForEach(threads: 2) { _, _ in }
      }
    }
  case "let-go-shared":
    return try cycles(words[2]) {
      try use(Table.shared(words[1]))
      Table.forgetShared(words[1])
    }
  case "let-go-temporary": return try cycles(words[2]) { try use(temporary(words[1])) }
  case "let-go-snapshots":
    // Slots of the thread that holds those of snapshots and of presence.
    return try cycles(words[1]) {
      let table = try temporary("rcu")
      try use(table)
      let snapshot = try table.snapshot()
      _ = try snapshot.read { view in try view.get("n", as: Int.self) }
      _ = try table.segment.presence()
    }
  case "let-go-threads": return try letGoInThreads(words[1], Int(words[2])!)
  case "let-go-beside-a-thread": return try letGoBesideAThread(words[1], Int(words[2])!)
  case "let-go-in-flight": return try letGoInFlight(words[1], Int(words[2])!)
  case "let-go-in-child":
    // The child has what its parent had, and lets go what it opens itself.
    // Its parent has done all of it before: a child hangs when another thread sets up something of Swift's runtime at the fork.
    let variant = words[1]
    try use(temporary(variant))
    let parents = try temporary(variant)
    try use(parents)
    return try forkedBeside(variant) {
      let before = Remains()
      for _ in 0..<Int(words[2])! { try use(temporary(variant)) }
      return "\(Remains().mappings <= before.mappings && Remains().descriptors <= before.descriptors)"
    }
  case "let-go-of-parents": return try letGoOfParents(words[1])
  default: return nil
  }
}

private func temporary(_ variant: String) throws -> Table {
  try Table.temporary(variant: variant == "rwlock" ? .rwlock : .rcu, capacityBytes: 1 << 20)
}

private func use(_ table: Table) throws {
  try table.set("n", 1)
  guard try table.read({ view in try view.get("n", as: Int.self) }) == 1 else { throw Abort() }
}

private func cycles(_ count: String, _ body: () throws -> Void) throws -> String {
  for _ in 0..<Int(count)! { try body() }
  return Remains().settled
}

/// What of /dev/shm this process holds.
private struct Remains {
  let descriptors: Int
  let mappings: Int

  init() {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    descriptors = numbers.count { number in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))?
        .hasPrefix("/dev/shm/") == true
    }
    mappings = sharedMappings().count
  }

  var text: String { "\(descriptors) descriptors, \(mappings) mappings" }

  /// The same, once the thread has come by that gives back slots on request; after some seconds without.
  var settled: String {
    var now = self
    for _ in 0..<5_000 where now.mappings > 0 {
      sched_yield()
      now = Remains()
    }
    return now.text
  }
}

/// This process's mappings of /dev/shm, each with its rights as in proc(5). By lines: Foundation reads no more than the first page
/// of this file.
func sharedMappings() -> [String] {
  let maps = fopen("/proc/self/maps", "r")!
  defer { fclose(maps) }
  var line: UnsafeMutablePointer<CChar>?
  var capacity = 0
  defer { free(line) }
  var found: [String] = []
  while getline(&line, &capacity, maps) > 0 {
    if strstr(line!, "/dev/shm/") != nil { found.append(String(cString: line!)) }
  }
  return found
}

/// Several threads open, use and let go tables, one of which they share; they end.
private func letGoInThreads(_ variant: String, _ count: Int) throws -> String {
  let failures = Atomic(0)
  let shared = Mutex<Table?>(try temporary(variant))
  let threads = (0..<4).map { _ in
    startThread {
      for round in 0..<count {
        do {
          try use(temporary(variant))
          // Whoever comes at a round's end replaces it, while others use it.
          if let table = shared.withLock({ $0 }) { try use(table) }
          if round % 8 == 0 {
            let next = try temporary(variant)
            let old = shared.withLock { table in
              let old = table
              table = next
              return old
            }
            _ = old
          }
        } catch {
          failures.add(1, ordering: .relaxed)
        }
      }
    }
  }
  for thread in threads { pthread_join(thread, nil) }
  let last = shared.withLock { $0.take() }
  if last == nil { return "no table was left" }
  return failures.load(ordering: .relaxed) == 0 ? "ok" : "failed"
}

/// One thread uses each table and lives on; this one lets them go.
private func letGoBesideAThread(_ variant: String, _ count: Int) throws -> String {
  let next = Mutex<Table?>(nil)
  let ready = DispatchSemaphore(value: 0)
  let done = DispatchSemaphore(value: 0)
  let thread = startThread {
    while true {
      ready.wait()
      guard let table = next.withLock({ $0.take() }) else { return }
      try? use(table)
      done.signal()
    }
  }
  var most = 0
  for _ in 0..<count {
    let table = try temporary(variant)
    try use(table)
    next.withLock { $0 = table }
    ready.signal()
    done.wait()
    most = max(most, Remains().mappings)
  }
  ready.signal()
  pthread_join(thread, nil)
  // The other one may have let the last table go: then this thread's slot in it is given back at its next table.
  try use(temporary(variant))
  return "\(most <= 6), then \(Remains().text)"
}

/// Asynchronous barriers still run when the last handle goes; their threads live on.
private func letGoInFlight(_ variant: String, _ count: Int) throws -> String {
  var most = 0
  for round in 0..<count {
    let item: WorkItem<Void>
    do {
      let table = try temporary(variant)
      let queue = try BarrierQueue(in: table, label: "org.example.let-go")
      item = try queue.async(flags: .barrier) { tx in try tx.set("n", 1) }
    }
    if round % 4 == 0 { try item.wait(timeout: .seconds(30)) }
    if round % 16 == 15 {
      try item.wait(timeout: .seconds(30))
      most = max(most, Remains().mappings)
    }
  }
  return most < 4 * 64 ? "bounded" : "\(most) mappings"
}

/// Runs `body` in a child that is forked while other threads open and let go tables.
private func forkedBeside(_ variant: String, _ body: () throws -> String) throws -> String {
  let isOver = Atomic(false)
  let threads = (0..<2).map { _ in
    startThread {
      while !isOver.load(ordering: .relaxed) { try? use(temporary(variant)) }
    }
  }
  defer {
    isOver.store(true, ordering: .relaxed)
    for thread in threads { pthread_join(thread, nil) }
  }
  for _ in 0..<8 {
    let said = forked { outcome(body) }
    if said != "true" { return said }
  }
  return "ok"
}

/// A child lets go of a table that its parent goes on using.
private func letGoOfParents(_ variant: String) throws -> String {
  var handle: Table? = try temporary(variant)
  try use(handle!)
  let said = forked {
    handle = nil
    // The first table of its own shows what of the parent's is left.
    return outcome {
      try use(temporary(variant))
      return Remains().text
    }
  }
  try use(handle!)
  return said
}
