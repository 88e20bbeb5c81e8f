import Dispatch
import Glibc
import SharedMemory
import SharedTable
import Synchronization
import TestSupport

/// What tests of waiting and watching ask for; nil for any other command.
func answerEvents(_ words: [String]) throws -> String? {
  switch words[0] {
  case "wait": return "\(try table.waitForCommit(after: UInt64(words[1])!, timeout: .seconds(30)))"
  case "change":
    var changes = RandomChanges(seed: UInt64(words[1])!, keys: Int(words[3])!)
    return "done \(try changes.run(table, operations: Int(words[2])!))"
  case "watchers":
    // So many tasks, each of which ends with the first change it is told.
    watchers.told.store(0, ordering: .relaxed)
    watchers.tasks = (0..<Int(words[1])!).map { _ in
      let changes = table.changes()
      return Task.detached {
        for try await _ in changes {
          watchers.told.add(1, ordering: .releasing)
          return
        }
      }
    }
    return "ok"
  case "told": return "\(watchers.told.load(ordering: .acquiring))"
  case "cancel-watchers":
    for task in watchers.tasks { task.cancel() }
    return "ok"
  case "watcher-threads": return "\(watcherThreads())"
  case "deny-waiting-for-many":
    FutexEvent.isWaitingForManyDenied.store(true, ordering: .relaxed)
    return "ok"
  case "fork-watch":
    let watch = try Watch(table)
    return forked {
      outcome {
        // The parent's is nobody's here, and lets whoever uses it go on.
        let ended = FutexFlag()
        try watch.wait(for: .commit(after: table.version)) { ended.raise() }
        ended.wait()
        let again = try Table.open(table.name, access: .participant)
        let flag = FutexFlag()
        let own = try Watch(again)
        try own.wait(for: .commit(after: again.version)) { flag.raise() }
        try again.set("key", "child")
        flag.wait()
        return "\(watcherThreads())"
      }
    }
  case "fork-source": return forkedBesideSourceUsers(Int(words[1])!)
  case "fork-wait": return forked { outcome { "\(try table.waitForCommit(after: 0))" } }
  default: return nil
  }
}

/// Children that are forked while another thread uses a source use it, too.
private func forkedBesideSourceUsers(_ count: Int) -> String {
  let source = table.makeChangeSource(queue: DispatchQueue(label: "source"))
  source.setEventHandler { _ in }
  // Once before, and not first beside a fork: Swift's runtime makes a type at its first use, under a lock of its own.
  func use() -> String {
    source.setEventHandler { _ in }
    source.setCancelHandler { _ in }
    source.suspend()
    source.resume()
    return "\(source.isCancelled)"
  }
  _ = use()
  let isOver = Atomic(false)
  let begun = FutexFlag()
  let user = TestThread {
    begun.raise()
    while !isOver.load(ordering: .relaxed) { _ = source.isCancelled }
  }
  begun.wait()
  defer {
    isOver.store(true, ordering: .relaxed)
    try? user.join()
  }
  var answers: Set<String> = []
  for _ in 0..<count {
    let answer = forked {
      // In case that it waits for ever.
      alarm(60)
      let before = use()
      source.activate()
      source.cancel()
      return "\(before) \(source.isCancelled)"
    }
    if answer == "child died" { return answer }
    answers.insert(answer)
  }
  return "\(answers.sorted()), here \(source.isCancelled)"
}

final class Watchers: @unchecked Sendable {
  // Sendable because only the main thread uses the tasks.
  var tasks: [Task<Void, any Error>] = []
  let told = Atomic(0)
}
let watchers = Watchers()

/// Threads of this process that watch tables.
func watcherThreads() -> Int {
  var count = 0
  guard let directory = opendir("/proc/self/task") else { return -1 }
  defer { closedir(directory) }
  while let entry = readdir(directory) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    guard Int(name) != nil, let file = fopen("/proc/self/task/\(name)/comm", "r") else { continue }
    var line = [CChar](repeating: 0, count: 64)
    fgets(&line, Int32(line.count), file)
    fclose(file)
    if line.withUnsafeBufferPointer({ String(cString: $0.baseAddress!) }).hasPrefix("table-watcher") { count += 1 }
  }
  return count
}

/// Raised once by another thread; works in a forked child, where Dispatch does not.
final class FutexFlag: @unchecked Sendable {
  // Sendable because the event is made for several threads.
  private let word = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
  private var event: FutexEvent { FutexEvent(at: word) }

  init() { word.storeBytes(of: 0, as: UInt64.self) }
  func raise() { event.advance() }
  func wait() {
    while event.value == 0 { _ = event.wait(while: 0, timeoutNanoseconds: 1_000_000_000) }
  }
}

/// Sets and removes keys at random, one or several in a barrier; some barriers are undone.
struct RandomChanges {
  private var generator: SplitMix
  private let keys: Int

  private struct Change: Error {}

  init(seed: UInt64, keys: Int) {
    generator = SplitMix(seed: seed)
    self.keys = keys
  }

  /// - Returns: how many changes were committed.
  mutating func run(_ table: Table, operations: Int) throws -> Int {
    var committed = 0
    for _ in 0..<operations {
      switch generator.below(10) {
      case ..<4:
        try table.set(key(), Int(generator.below(1 << 40)))
        committed += 1
      case ..<6:
        if try table.remove(key()) { committed += 1 }
      case ..<9:
        committed += try barrier(table)
      default:
        do { _ = try barrier(table, abort: true) } catch is Change {}
      }
    }
    return committed
  }

  private mutating func key() -> String { "key \(generator.below(keys))" }

  private mutating func barrier(_ table: Table, abort: Bool = false) throws -> Int {
    try table.barrier { tx in
      var changes = 0
      for _ in 0..<(1 + generator.below(6)) {
        if generator.below(3) > 0 {
          try tx.set(key(), Int(generator.below(1 << 40)))
          changes += 1
        } else if try tx.remove(key()) {
          changes += 1
        }
      }
      if abort { throw Change() }
      return changes
    }
  }
}
