import Glibc
import SharedMemory
import SharedTable
import TestSupport

// A /dev/shm that fills (G9): an error that says so, nothing half done, never SIGBUS, and others go on.

func fillsInBarrier(_ run: Run) throws {
  for variant in ["rcu", "rwlock"] {
    try run.relay(
      try startWorkerUnshared([], smallSharedMemory, "fills-in-barrier", [variant, run.isLong ? "1" : "16"]))
  }
}

func fullAtCreate(_ run: Run) throws {
  try run.relay(try startWorkerUnshared([], smallSharedMemory, "full-at-create", [run.isLong ? "1" : "9"]))
}

/// Worker: in a /dev/shm of 8 MiB, of its own.
func playFillsInBarrier(_ arguments: [String]) throws {
  let (variant, stride) = (arguments[0], Int(arguments[1])!)
  let name = "small"
  let (first, second, observer) = (try startNeighbour(), try startNeighbour(), try startNeighbour())
  func expect(_ process: WorkerProcess, _ command: String, _ expected: String) throws {
    let answer = try process.ask(command)
    if answer != expected { say("broken: \(variant): \(command): expected \(expected), got \(answer)") }
  }
  try expect(first, "create \(name) \(variant) \(64 << 20)", "ok")
  try expect(second, "open \(name) participant", "participant")
  try expect(observer, "open \(name) observer", "observer")
  try expect(first, "fill 500 100 base", "ok")

  // Each number of pages left meets another of the places where a barrier claims memory.
  let filler = try Filler()
  var (refused, succeeded) = (0, 0)
  for free in Swift.stride(from: 0, through: 700, by: stride) {
    let keys = try first.ask("count")
    try filler.leave(pages: free)
    for (values, bytes) in [(3000, 60), (40, 30_000)] {
      let answer = try first.ask("fill \(values) \(bytes) try\(free)-\(bytes)-")
      if answer == "ok" {
        succeeded += 1
        try expect(first, "verify \(values) \(bytes) try\(free)-\(bytes)-", "ok")
        try first.ask("clear \(values) try\(free)-\(bytes)-")
      } else {
        refused += 1
        if !answer.hasPrefix("error full") { say("broken: \(variant), \(free) pages left: \(answer)") }
        try expect(second, "count", keys)
      }
    }
    try expect(second, "set k\(free % 7) \(free)", "ok")
    try expect(observer, "get k\(free % 7)", "\(free)")
    try expect(observer, "verify 500 100 base", "ok")
    if free == 0 { for number in 0..<7 { try expect(second, "set k\(number) 0", "ok") } }
  }
  try expect(first, "check", "ok")
  filler.removeAll()
  // What was cleared is garbage that a barrier has no time to collect.
  _ = try second.ask("maintain")
  try expect(second, "fill 200 10000 after", "ok")
  try expect(first, "verify 200 10000 after", "ok")
  try expect(second, "check", "ok")
  for process in [first, second, observer] { try process.finish() }
  if refused == 0 || succeeded == 0 { say("broken: \(refused) barriers were refused, \(succeeded) were not") }
  say(
    "row | tmpfs of 8 MiB, \(variant) | barriers with 0 to 700 pages left, while others write and observe | "
      + "\(refused) refused as full and undone, \(succeeded) done; works again once there is room")
}

/// Worker: makes a table with as many pages left as make it fail at each of its steps.
func playFullAtCreate(_ arguments: [String]) throws {
  let stride = Int(arguments[0])!
  let filler = try Filler()
  var (refused, made) = (0, 0)
  for variant in Table.Variant.allCases {
    var isMade = false
    for free in Swift.stride(from: 0, through: 1000, by: stride) where !isMade {
      try filler.leave(pages: free)
      do throws(TableError) {
        let table = try Table.create("t\(free)", .init(variant: variant, capacityBytes: 1 << 20))
        try table.set("k", 1)
        try Table.drop("t\(free)")
        made += 1
        isMade = true
      } catch {
        refused += 1
        if error.code != .full { say("broken: \(free) pages left: \(error)") }
        let left = try SharedObject.list(prefix: "shmtable.")
        if !left.isEmpty { say("broken: \(free) pages left: \(left) stays behind") }
        if filler.freePages != free { say("broken: of \(free) pages only \(filler.freePages) came back") }
      }
    }
    // What this process has mapped of its own tables goes with it; the next variant starts with less room.
    filler.removeAll()
  }
  if refused == 0 || made == 0 { say("broken: \(refused) were refused, \(made) made") }
  say(
    "row | /dev/shm full at create | a table made with 0 pages left and more, until there are enough | "
      + "\(refused) refused as full with nothing left behind and no page lost")
}

func fullDeletes(_ run: Run) throws {
  for variant in Table.Variant.allCases {
    try run.relay(try startWorkerUnshared([], smallSharedMemory, "full-deletes", ["\(variant)"]))
  }
}

/// Worker: fills a table that is larger than /dev/shm until no page is left, then removes every key, and lets every key
/// expire and sweeps. The first refusal is the end of the test.
func playFullDeletes(_ arguments: [String]) throws {
  let variant: Table.Variant = arguments[0] == "rcu" ? .rcu : .rwlock
  let filler = try Filler()
  let table = try Table.create("full", .init(variant: variant, capacityBytes: 64 << 20))
  let past = try Table.open("full", clock: { HostClock.realtimeNanoseconds - 3_600_000_000_000 })
  let value = [UInt8](repeating: 1, count: 100)

  func fill(_ handle: Table, _ expires: Expiration) -> Int {
    var count = 0
    do throws(TableError) {
      while true {
        try handle.set("key \(count)", value, expires: expires)
        count += 1
      }
    } catch {
      if error.code != .full { say("broken: \(variant): the table would not fill: \(error)") }
    }
    return count
  }

  let large = [UInt8](repeating: 2, count: 64 << 10)
  for index in 0..<8 { try table.set("large \(index)", large) }
  let stored = fill(table, .never)
  try filler.leave(pages: 0)
  for round in 0..<3 {
    for index in 0..<8 { try table.set("large \(index)", large.map { $0 &+ UInt8(round) }) }
    for index in stride(from: 0, to: stored, by: 100) { try table.set("key \(index)", value) }
  }
  for index in 0..<8 { try table.remove("large \(index)") }
  for index in 0..<stored where try !table.remove("key \(index)") { say("broken: \(variant): key \(index) was absent") }
  if table.count != 0 { say("broken: \(variant): \(table.count) keys are left") }
  let problems = try table.check()
  if !problems.isEmpty { say("broken: \(variant): \(problems)") }

  let expiring = fill(past, .after(.seconds(60)))
  var swept = 0
  // Barriers that remove one key each find the rings as full as they ever are: a sweep is not tried a second time.
  for _ in 0..<2000 { swept += try table.administration.sweepExpired(limit: 1) }
  while case let removed = try table.administration.sweepExpired(), removed > 0 { swept += removed }
  if swept != expiring { say("broken: \(variant): of \(expiring) expired keys \(swept) were swept") }
  let left = try table.check()
  if !left.isEmpty { say("broken: \(variant): \(left)") }
  say(
    "row | table of 64 MiB in a tmpfs of 8 MiB, \(variant) | filled until no page is left, values of 100 bytes and 64 KiB "
      + "replaced, every key removed; filled again, "
      + "every key expired and swept | \(stored) removed, \(expiring) swept, none refused")
}

func fullShrunk(_ run: Run) throws {
  for variant in Table.Variant.allCases {
    try run.relay(try startWorkerUnshared([], smallSharedMemory, "full-shrunk", ["\(variant)"]))
  }
}

/// Worker: in a /dev/shm of 8 MiB, what a table gives back is taken by somebody else. The table says that it is full, and goes on
/// with what it has; nobody touches a page that is not there.
func playFullShrunk(_ arguments: [String]) throws {
  let variant: Table.Variant = arguments[0] == "rcu" ? .rcu : .rwlock
  let filler = try Filler()
  let table = try Table.create("shrunk", .init(variant: variant, capacityBytes: 64 << 20))
  let (other, observer) = (try startNeighbour(), try startNeighbour())
  func expect(_ process: WorkerProcess, _ command: String, _ expected: String) throws {
    let answer = try process.ask(command)
    if answer != expected { say("broken: \(variant): \(command): expected \(expected), got \(answer)") }
  }
  try expect(other, "open shrunk participant", "participant")
  var (givenBack, stored) = (0, 0)
  for round in 0..<3 {
    while (try? table.set("key \(round) \(stored)", [UInt8](repeating: 1, count: 100))) != nil { stored += 1 }
    for index in 0..<stored where index % 10 != 0 { try table.remove("key \(round) \(index)") }
    while let step = try table.administration.shrink() {
      givenBack += step.bytesGivenBack
      if !step.isUnfinished { break }
    }
    try filler.leave(pages: 0)
    try expect(observer, "open shrunk observer", "observer")
    try expect(observer, "count", "\(table.count)")
    do throws(TableError) {
      try table.set("large", [UInt8](repeating: 2, count: 4 << 20))
      say("broken: \(variant): there was room for 4 MiB")
    } catch {
      if error.code != .full { say("broken: \(variant): \(error)") }
    }
    try expect(other, "set word \(round)", "ok")
    try expect(observer, "get word", "\(round)")
    _ = table.statistics
    for index in 0..<stored where index % 10 == 0 {
      if try !table.remove("key \(round) \(index)") { say("broken: \(variant): key \(index) was absent") }
    }
    stored = 0
    let problems = try table.check()
    if !problems.isEmpty { say("broken: \(variant): \(problems)") }
    try expect(observer, "close", "ok")
    filler.removeAll()
  }
  if givenBack < 3 << 20 { say("broken: \(variant): only \(givenBack) bytes were given back") }
  for process in [other, observer] { try process.finish() }
  say(
    "row | table in a tmpfs of 8 MiB, \(variant) | filled, nine of ten deleted, shrunk, and what came back taken by another file, "
      + "three times; others read and write | \(givenBack >> 10) KiB given back, refused as full, `check` clean")
}

/// Takes up the room of /dev/shm.
final class Filler {
  private static let pageBytes = 4096
  private let object: SharedObject
  private var bytes = 0

  init() throws {
    object = try SharedObject.create(name: "filler", mode: 0o600)
    try SharedObject.unlink(name: "filler")
  }

  var freePages: Int {
    let bytes = try? Table.freeBytes()
    return (bytes ?? 0) / Self.pageBytes
  }

  func leave(pages: Int) throws {
    let excess = freePages - pages
    if excess > 0 {
      try object.allocate(offset: bytes, count: excess * Self.pageBytes)
      bytes += excess * Self.pageBytes
    } else if excess < 0 {
      bytes = max(0, bytes + excess * Self.pageBytes)
      try object.truncate(to: bytes)
    }
  }

  func removeAll() {
    try? object.truncate(to: 0)
    bytes = 0
  }
}
