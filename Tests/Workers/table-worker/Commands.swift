// One process of a test: does to tables what it is told, line by line, and answers each command with one line.
// Inside a section it goes on taking commands, so that a test decides how long the section lasts.

import Glibc
import SharedMemory
import SharedTable
import TableEngine
import TestSupport

// Unavailable in Swift, for good reasons that the tests of forking exist to look at.
@_silgen_name("fork") func cFork() -> Int32

nonisolated(unsafe) var opened: Table?
nonisolated(unsafe) var held: Snapshot?
var table: Table { opened! }

struct Abort: Error {}

func say(_ line: String) {
  print(line)
  fflush(nil)
}

func nextCommand() -> [String]? {
  // Where it is EINTR, readLine() tries again for ever at the end of input.
  errno = 0
  return readLine()?.split(separator: " ").map(String.init)
}

func describe(_ error: any Error) -> String {
  guard let error = error as? TableError else { return "error \(error)" }
  return "error \(error.code.rawValue)\(error.holder.map { " holder \($0.pid)" } ?? "")"
}

func shown(_ value: String?) -> String { value ?? "nil" }

/// What a child made by fork() says; "child died" if it ends otherwise.
func forked(_ body: () -> String) -> String {
  let pipe = AnswerPipe()
  let child = cFork()
  if child == 0 { pipe.answer(body()) }
  return pipe.answer(of: child) ?? "child died"
}

/// Through which a child made by fork() says one thing and ends.
struct AnswerPipe {
  private let ends: [Int32]

  init() {
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    self.ends = ends
  }

  /// In the child.
  func answer(_ text: String) -> Never {
    let text = Array(text.utf8)
    _ = write(ends[1], text, text.count)
    _exit(0)
  }

  /// In the parent: nil if the child said nothing, or ended otherwise.
  func answer(of child: Int32) -> String? {
    close(ends[1])
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(ends[0], &buffer, buffer.count)
    close(ends[0])
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    return count > 0 && status == 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }
}

func outcome(_ body: () throws -> String) -> String {
  do { return try body() } catch { return describe(error) }
}

func answer(_ words: [String]) throws -> String {
  switch words[0] {
  case "open":
    let ways: [String: Table.Access] = ["observer": .observer, "automatic": .automatic]
    let access = words.count > 2 ? ways[words[2]] : nil
    opened = try Table.open(words[1], access: access ?? .participant, timeout: .seconds(30))
    return "ok"
  case "open-automatically":
    opened = try Table.open(words[1])
    return table.isObserver ? "observer" : "participant"
  case "create-or-open":
    while true {
      do {
        opened = try Table.create(words[1], .init(capacityBytes: 2 << 20))
        return "created"
      } catch {
        guard error.code == .exists else { throw error }
      }
      do {
        opened = try Table.open(words[1], access: .participant)
        return "opened"
      } catch {
        // Another process has taken away what a third had only begun, and makes it.
        guard error.code == .noSuchTable else { throw error }
      }
    }
  case "create-half":
    // Stops for ever where a part of the table is there.
    _ = try Segment.create(words[1], SegmentOptions(capacityBytes: 2 << 20, preallocate: true)) {
      say("half")
      while true { sleep(1000) }
    }
    return "whole"
  case "open-or-create":
    let variant: Table.Variant = words[2] == "rwlock" ? .rwlock : .rcu
    let milliseconds = words.count > 3 ? Int(words[3])! : 30_000
    opened = try Table.openOrCreate(
      words[1], .init(variant: variant, capacityBytes: 2 << 20), timeout: .milliseconds(milliseconds))
    return "\(table.variant)"
  case "replace":
    // Drops a table and makes another under its name, so many times.
    for _ in 0..<Int(words[2])! {
      try Table.drop(words[1])
      opened = try Table.create(words[1], .init(capacityBytes: 2 << 20))
    }
    return "ok"
  case "wait-for":
    // Until a moment: processes that do so start what follows side by side.
    while HostClock.monotonicNanoseconds < UInt64(words[1])! {}
    return try answer(Array(words[2...]))
  case "drop":
    try Table.drop(words[1])
    return "ok"
  case "message":
    do { return try answer(Array(words.dropFirst())) } catch let error as TableError { return error.message }
  case "become":
    // The user, and its supplementary groups if they are to be others.
    if words.count > 2 {
      let groups = words[3...].map { UInt32($0)! }
      guard setgroups(groups.count, groups) == 0 else { return "setgroups: error \(errno)" }
    }
    guard setgid(UInt32(words[1])!) == 0, setuid(UInt32(words[1])!) == 0 else { return "setuid: error \(errno)" }
    return "ok"
  case "umask":
    umask(mode_t(words[1], radix: 8)!)
    return "ok"
  case "limit-files":
    // To so many bytes, as a full file system would.
    var limit = rlimit(rlim_cur: rlim_t(words[1])!, rlim_max: rlim_t(words[1])!)
    return setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 ? "ok" : "setrlimit: error \(errno)"
  case "get": return shown(try table.get(words[1]))
  case "count": return "\(table.count)"
  case "set":
    try table.set(words[1], words[2], timeout: words.count > 3 ? .milliseconds(Int(words[3])!) : nil)
    return "ok"
  case "remove": return try table.remove(words[1]) ? "ok" : "absent"
  case "increment":
    for _ in 0..<Int(words[2])! { try table.increment(words[1]) }
    return "ok"
  case "twins":
    for index in 1...Int(words[1])! {
      try table.barrier { tx in
        try tx.set("n", index)
        try tx.set("m", index)
      }
    }
    return "ok"
  case "maintain":
    try table.administration.maintain()
    return "ok"
  case "check":
    let problems = try table.check()
    return problems.isEmpty ? "ok" : problems.joined(separator: "; ")

  case "barrier":
    try table.barrier(timeout: words.count > 1 ? .milliseconds(Int(words[1])!) : nil) { tx in try inside(&tx) }
    return "ok"
  case "barrier-then-set":
    // Wants the table again at once.
    try table.barrier { tx in try inside(&tx) }
    try table.set(words[1], words[2])
    return "ok"
  case "set-group":
    var rights = try table.administration.rights()
    rights.group = UInt32(words[1])!
    try table.administration.setRights(rights)
    return "ok"
  case "barriers-for-ever":
    say("in")
    while true {
      try table.barrier { tx in
        try tx.increment("turns")
        let end = HostClock.monotonicNanoseconds + UInt64(words[1])! * 1_000_000
        while HostClock.monotonicNanoseconds < end {}
      }
    }
  case "read":
    try table.read(timeout: words.count > 1 ? .milliseconds(Int(words[1])!) : nil) { view in try inside(view) }
    return "ok"
  case "snapshot":
    held = try table.snapshot()
    return "\(held!.version)"
  case "snapshot-get": return shown(try held!.get(words[1]))
  case "snapshot-read":
    try held!.read { view in try inside(view) }
    return "ok"

  case "random":
    let operations = Int(words[2])!
    let log = OperationLog(path: words[3], capacity: operations * 14)
    var random = RandomOperations(
      table, log, keys: Int(words[4])!, worker: Int(words[5])!, seed: UInt64(words[1])!)
    return "done \(try random.run(operations))"

  case "fork-get": return forked { outcome { shown(try table.get(words[1])) } }
  case "fork-set": return forked { outcome { try table.set(words[1], words[2]) ? "ok" : "not set" } }
  case "fork-reopen":
    return forked {
      outcome {
        let again = try Table.open(table.name, access: .participant)
        try again.set(words[1], "child")
        return shown(try again.get(words[1]))
      }
    }
  case "poke":
    // Stores into the mapping behind the API's back: where it is read-only this is the end.
    let segment = try Segment.open(table.name, .observer)
    segment.data.storeRelaxed(Int(words[1])!, 0)
    return "stored"
  case "fork-beside-creation": return forkBesideCreation(words[1])
  case "writable-mappings":
    let writable = sharedMappings().filter { line in
      line.contains("/dev/shm/shmtable.\(table.name).") && line.split(separator: " ")[1].contains("w")
    }
    return writable.isEmpty ? "none" : writable.joined(separator: "; ")
  case let word where word.hasPrefix("access-"): return try accessAnswer(words)
  case let word where word.hasPrefix("read-fork-"): return try forkReadAnswer(words)
  case let word where word.hasPrefix("scan-"): return try scanAnswer(words)
  default:
    return try answerEvents(words) ?? queueAnswer(words) ?? collectionAnswer(words) ?? letGoAnswer(words)
      ?? hostActorAnswer(words) ?? watcherAnswer(words)
      ?? answerCache(words)
      ?? keyedAnswer(words) ?? redisAnswer(words) ?? "unknown command \(words[0])"
  }
}

func inside(_ tx: inout Transaction) throws {
  say("in")
  while let words = nextCommand() {
    do {
      switch words[0] {
      case "commit": return
      case "abort": throw Abort()
      case "set":
        try tx.set(words[1], words[2])
        say("ok")
      case "fill":
        for index in 0..<Int(words[2])! { try tx.set("\(words[1])\(index)", index) }
        say("ok")
      case "remove": say(try tx.remove(words[1]) ? "ok" : "absent")
      case "get": say(shown(try tx.get(words[1])))
      case "savepoint": say(try part(of: &tx))
      case "fork-abort-part": try forkInPart(of: &tx, words[1], words[2])
      case "fork-set-inside":
        let child = cFork()
        if child == 0 {
          var text = "stored"
          do throws(TableError) { try tx.set(words[1], words[2]) } catch { text = describe(error) }
          say(text)
          _exit(0)
        }
        waitpid(child, nil, 0)
      default: say(try collectionAnswer(words, &tx) ? "ok" : "unknown command \(words[0])")
      }
    } catch let error as TableError {
      say(describe(error))
    }
  }
  throw Abort()
}

/// A part of the barrier, in which "commit" and "abort" are the part's.
private func part(of tx: inout Transaction) throws -> String {
  do {
    try tx.withSavepoint { (part: inout Transaction) throws in try inside(&part) }
    return "released"
  } catch is Abort {
    return "rolled back"
  }
}

/// A child forked in a part throws out of it, and is gone; the parent goes on.
private func forkInPart(of tx: inout Transaction, _ key: String, _ value: String) throws {
  do {
    try tx.withSavepoint { (part: inout Transaction) throws in
      try part.set(key, value)
      let child = cFork()
      if child == 0 { throw Abort() }
      waitpid(child, nil, 0)
    }
    say("ok")
  } catch is Abort {
    say("child out")
    _exit(0)
  }
}

func inside(_ view: borrowing ReadView) throws {
  say("in \(view.version)")
  while let words = nextCommand() {
    do {
      switch words[0] {
      case "end": return
      case "get": say(shown(try view.get(words[1])))
      case "count": say("\(try view.count())")
      default: say("unknown command \(words[0])")
      }
    } catch {
      say(describe(error))
    }
  }
}

func serve() {
  while let words = nextCommand() {
    do {
      say(try answer(words))
    } catch is Abort {
      say("aborted")
    } catch {
      say(describe(error))
    }
  }
}
