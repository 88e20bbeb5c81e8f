import Glibc
import SharedTable

/// Starts the processes, tells what happens, checks it, and leaves nothing behind.
final class Story {
  private let directory: String
  private let tables: [(name: String, variant: Table.Variant)]
  private var children: [Child] = []
  private var failures = 0

  init() throws {
    endWaitsOnInterrupt()
    directory = try makePrivateDirectory()
    tables = [("demo-\(getpid())-rcu", .rcu), ("demo-\(getpid())-rwlock", .rwlock)]
  }

  /// - Returns: whether every check held.
  func tell() throws -> Bool {
    defer { clearUp() }
    let daemon = try startDaemon()
    for table in tables { try tell(table.name, table.variant) }
    say("\nThe end")
    daemon.kill(SIGTERM)
    check(daemon.wait() == "exited with 0", "shmd stopped on SIGTERM")
    clearUp()
    let left = try Table.names().filter { name in tables.contains { $0.name == name } }
    check(left.isEmpty && !hasChildren(), "nothing is left in /dev/shm, no process is left")
    return failures == 0
  }

  private func tell(_ name: String, _ variant: Table.Variant) throws {
    say(
      "\nVariant \(variant)" + (variant == .rcu ? ": readers never wait" : ": readers and barriers exclude each other"))
    let readers = try [start("reader", name), start("reader", name)]
    for reader in readers { try reader.expect("ready") }

    let loaded = try load(name)
    say("  a process stored \(loaded.packages) packages in one barrier of \(milliseconds(loaded.nanoseconds))")
    try showOne(name)

    let before = try measure(readers)
    say("  before:  \(before.perSecond) read sections a second, each of four lookups, in two processes")

    let victim = try start("victim", name)
    let half = try victim.line().split(separator: " ").last ?? "?"
    say("  a writer has rewritten \(half) packages and stands inside its barrier")
    let during = try measure(readers)
    switch variant {
    case .rcu:
      say("  during:  \(during.perSecond) a second")
      check(during.sections > 0, "readers went on while the writer stood still")
    case .rwlock:
      say("  during:  \(during.perSecond) a second: \(during.problem)")
      check(during.sections == 0, "readers waited for the barrier, and said for whom")
    }

    for reader in readers {
      reader.send("once")
      try reader.expect("asking")
    }
    victim.kill(SIGKILL)
    check(victim.wait() == "killed by signal 9", "the writer was killed with SIGKILL")
    let waits = try readers.map { Int(try $0.line()) ?? -1 }
    if variant == .rwlock { say("  the first reads came \(milliseconds(waits.max() ?? -1)) after they were asked for") }

    let after = try measure(readers)
    say("  after:   \(after.perSecond) a second")
    check(after.sections > 0, "readers go on")
    let seen = try readers.map { try $0.ask("generation") }
    check(seen.allSatisfy { $0 == "\(loaded.generation)" }, "nothing of the killed writer's half is visible")

    let again = try load(name)
    say("  the next writer stored all packages again in \(milliseconds(again.nanoseconds))")
    let recoveries = try Table.open(name).statistics.recoveries
    check(
      again.generation == loaded.generation + 1 && recoveries == 1,
      "the table was recovered once, by whichever process came first")
    let last = try measure(readers)
    let torn = before.torn + during.torn + after.torn + last.torn
    let sections = before.sections + during.sections + after.sections + last.sections
    check(torn == 0 && last.sections > 0, "of \(sections) read sections none saw parts of two writes")
    for reader in readers {
      reader.closeInput()
      check(reader.wait() == "exited with 0", "a reader ended by itself", quietly: true)
    }
  }

  // MARK: - Parts

  private func startDaemon() throws -> Child {
    var configuration = "interval: 100ms\ntables:\n"
    for table in tables {
      configuration +=
        "  - name: \(table.name)\n    variant: \(table.variant)\n    capacity: 32MiB\n    mode: \"0600\"\n"
    }
    try write(configuration, to: "\(directory)/shmd.yaml")
    let daemon = try Child(
      sibling("shmd"), ["--config", "\(directory)/shmd.yaml", "--runtime-directory", directory],
      answersOn: STDERR_FILENO)
    children.append(daemon)
    var line = ""
    repeat { line = try daemon.line() } while !line.contains("ready")
    say("shmd keeps two tables of 32 MiB, pid \(daemon.pid)")
    return daemon
  }

  private func start(_ role: String, _ table: String) throws -> Child {
    let child = try Child(sibling("shm-demo"), [role, table], answersOn: STDOUT_FILENO)
    children.append(child)
    return child
  }

  private func load(_ table: String) throws -> (generation: Int, packages: Int, nanoseconds: Int) {
    let loader = try start("loader", table)
    let answer = try loader.line().split(separator: " ").compactMap { Int($0) }
    guard answer.count == 3, loader.wait() == "exited with 0" else { throw Trouble("the loader failed") }
    return (answer[0], answer[1], answer[2])
  }

  /// Lets both read at the same time.
  private func measure(_ readers: [Child]) throws -> (sections: Int, torn: Int, perSecond: Int, problem: String) {
    for reader in readers { reader.send("measure") }
    var sections = 0
    var torn = 0
    var problem = "-"
    for reader in readers {
      let fields = try reader.line().split(separator: " ", maxSplits: 2)
      sections += Int(fields[0]) ?? 0
      torn += Int(fields[1]) ?? 0
      problem = String(fields[2])
    }
    return (sections, torn, sections * 10 / 3, problem)
  }

  /// Has the command show a value that a process stored.
  private func showOne(_ table: String) throws {
    let shmctl = try Child(sibling("shmctl"), ["-t", table, "get", "bash"], answersOn: STDOUT_FILENO)
    children.append(shmctl)
    say("  $ shmctl -t \(table) get bash | head -n 3")
    for _ in 0..<3 { say("  | \(try shmctl.line())") }
    shmctl.drain()
    check(shmctl.wait() == "exited with 0", "shmctl read what a process stored", quietly: true)
  }

  private func clearUp() {
    for child in children { child.end() }
    children = []
    for table in tables { try? Table.drop(table.name) }
    removeDirectory(directory, files: ["shmd.yaml", "shmd.lock"])
  }

  private func check(_ holds: Bool, _ what: String, quietly: Bool = false) {
    if !holds { failures += 1 }
    if !holds || !quietly { say("  \(holds ? "ok:     " : "FAILED: ")\(what)") }
  }

  private func say(_ text: String) {
    print(text)
    fflush(nil)
  }

  private func milliseconds(_ nanoseconds: Int) -> String {
    "\(nanoseconds / 1_000_000).\(nanoseconds / 100_000 % 10) ms"
  }
}
