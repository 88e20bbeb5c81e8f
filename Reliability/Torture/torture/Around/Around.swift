import Glibc
import SharedTable
import TestSupport

/// Chapter 9: what a process finds around it, from a full /dev/shm to a clock set back.
let aroundGroup = Group(
  number: 9, title: "Surroundings", columns: ["surrounding", "what was done", "outcome"],
  items: [
    Item("around.fills-in-barrier", "a /dev/shm of 8 MiB that fills in the middle of a barrier", fillsInBarrier),
    Item("around.full-shrunk", "what a table gave back is taken by others", fullShrunk),
    Item("around.full-deletes", "removing and sweeping in a /dev/shm without a page left", fullDeletes),
    Item("around.full-at-create", "a /dev/shm that is full at each page of a table's creation", fullAtCreate),
    Item("around.read-only", "a /dev/shm that is mounted read-only", readOnly),
    Item("around.pid-namespace", "a second PID namespace", secondPIDNamespace),
    Item("around.no-membarrier", "a filter of system calls that denies membarrier, to some or to all", noMembarrier),
    Item("around.fences", "the fences of a get, with and without membarrier", fencesOfAGet),
    Item("around.fork", "fork without exec: from one thread, from several, inside a barrier", forkWithoutExec),
    Item("around.exec", "exec: idle, inside a section, inside a barrier", execInPlace),
    Item("around.threads", "4,096 threads that come and go", threadsComeAndGo),
    Item("around.slots", "more threads than a table has slots", moreThreadsThanSlots),
    Item("around.recreated", "a table dropped and made anew under its readers", recreated),
    Item("around.creators", "two creators at once", twoCreators),
    Item("around.opposite", "two tables, entered by two processes in opposite orders", oppositeOrders),
    Item("around.memory-limit", "RLIMIT_AS too small for a table", memoryLimit),
    Item("around.file-limit", "RLIMIT_FSIZE in the middle of a table", fileLimit),
    Item("around.descriptors", "no descriptor left, at each one that is asked for", noDescriptors),
    Item("around.clock", "a clock set back by a day", clockSetBack),
    Item("around.empty-struct", "a struct of no bytes, in an optimised program", emptyStruct),
  ])

/// Another process that knows its commands (``Neighbour``).
func startNeighbour() throws -> WorkerProcess { try startWorker("neighbour", timeoutSeconds: 900) }

/// The same in namespaces of its own: `unshare`'s options, and a line of shell before it starts.
/// - Throws: `NotRun` where making namespaces is not permitted.
func startNeighbour(unshare options: [String], _ preparation: String = "true") throws -> WorkerProcess {
  try startWorkerUnshared(options, preparation, "neighbour")
}

func startWorkerUnshared(
  _ options: [String], _ preparation: String, _ role: String, _ arguments: [String] = []
) throws -> WorkerProcess {
  let probe = try WorkerProcess.run("/usr/bin/unshare", ["--mount"] + options + ["sh", "-c", preparation])
  guard probe.exit == .code(0) else {
    throw NotRun("namespaces and mounts of one's own need root here (\(probe.errors.prefix { $0 != "\n" }))")
  }
  let torture = WorkerProcess.productDirectory + "/torture"
  return try WorkerProcess(
    "/usr/bin/unshare",
    ["--mount"] + options + ["sh", "-c", preparation + " && exec \"$0\" \"$@\"", torture, "worker", role] + arguments,
    timeoutSeconds: 1800)
}

/// A tmpfs of its own in /dev/shm.
let smallSharedMemory = "mount -t tmpfs -o size=8m,nosuid,nodev tmpfs /dev/shm"

extension Run {
  /// A step of another process and what it must answer.
  func expect(_ process: WorkerProcess, _ command: String, _ expected: String) throws {
    let answer = try process.ask(command)
    try expect(answer == expected, "\(command): expected \(expected), got \(answer)")
  }

  /// A step that must be refused with this code, and words that tell people why.
  func expect(_ process: WorkerProcess, _ command: String, refusedAs code: String, saying words: String = "") throws {
    let answer = try process.ask(command)
    try expect(
      answer.hasPrefix("error \(code) ") && answer.contains(words),
      "\(command): expected error \(code) … \(words), got \(answer)")
  }

  /// Plays a scenario that needs surroundings of its own in a process that has them; it says `broken: …` and rows.
  func relay(_ scenario: WorkerProcess) throws {
    while let line = try? scenario.readLine() {
      let cells = line.split(separator: "|").map { String($0).trimmed }
      if line.hasPrefix("row |"), cells.count == 4 {
        row(cells[1], cells[2], cells[3])
      } else {
        try expect(false, line)
      }
    }
    let exit = try scenario.wait()
    try expect(exit == .code(0), "the process of the scenario ended with \(exit): \(scenario.standardError)")
  }
}

extension String {
  fileprivate var trimmed: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}
