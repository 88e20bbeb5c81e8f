import Glibc
import SharedTable
import TestSupport
import Testing

@testable import ShmdCore

/// What a reload comes to, and when it counts.
@Suite struct ReloadTests {
  /// It may have read the configuration before that was changed.
  @Test func aReloadThatHadBegunIsNotTheOneThatIsWaitedFor() {
    func outcome(_ now: InstanceLock.Reloads?, before: InstanceLock.Reloads, pid: Int32 = 7) -> RunningDaemon.Outcome? {
      RunningDaemon.outcome(
        now.map { InstanceLock.State(pid: pid, reloads: $0) }, before: InstanceLock.State(pid: 7, reloads: before))
    }
    let idle = InstanceLock.Reloads(begun: 3, ended: 3)
    #expect(outcome(idle, before: idle) == nil)
    #expect(outcome(.init(begun: 4, ended: 3), before: idle) == nil)
    #expect(outcome(.init(begun: 4, ended: 4), before: idle) == .accepted)
    #expect(outcome(.init(begun: 4, ended: 4, isRefused: true), before: idle) == .refused)
    let busy = InstanceLock.Reloads(begun: 4, ended: 3)
    #expect(outcome(.init(begun: 4, ended: 4), before: busy) == nil)
    #expect(outcome(.init(begun: 5, ended: 4), before: busy) == nil)
    #expect(outcome(.init(begun: 5, ended: 5, isRefused: true), before: busy) == .refused)
    #expect(outcome(nil, before: idle) == .ended)
    #expect(outcome(.init(begun: 4, ended: 4), before: idle, pid: 8) == .ended)
  }

  @Test func aReloadThatDoesNotBeginIsNotTakenForOneThatFailed() throws {
    let fixture = try DaemonFixture()
    try fixture.configure("  - {name: \(fixture.tableName()), capacity: 2MiB}")
    let daemon = try fixture.startReady()
    daemon.signal(SIGSTOP)
    let running = try #require(try RunningDaemon(directory: fixture.directory + "/run"))
    let outcome = try running.reload(patience: 0)
    #expect(outcome == .notBegun)
    #expect(outcome.complaint(running.pid)?.contains("it reloads when it is ready") == true)
    daemon.signal(SIGCONT)
    try daemon.waitForLine("configuration reloaded")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }

  /// Users and groups may be LDAP's, which does not answer.
  @Test func theConfigurationIsReadOnAThreadOfItsOwn() throws {
    let fixture = try DaemonFixture()
    try fixture.configure("  - {name: \(fixture.tableName()), capacity: 2MiB}")
    let daemon = try fixture.startReady()
    daemon.signal(SIGHUP)
    try daemon.waitForLine("configuration reloaded")
    let pid = try #require(try RunningDaemon(directory: fixture.directory + "/run")?.pid)
    let threads = try WorkerProcess.run("/bin/sh", ["-c", "cat /proc/\(pid)/task/*/comm"], timeoutSeconds: 60).output
    #expect(threads.split(separator: "\n").contains("shmd-config"), "\(threads)")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }

  @Test func theLockFileOfAnEarlierReleaseIsUnderstood() {
    #expect(
      InstanceLock.state(written: "42 3 refused 4   \n")
        == InstanceLock.State(pid: 42, reloads: .init(begun: 4, ended: 3, isRefused: true)))
    #expect(
      InstanceLock.state(written: "42 3 in force 3\n")
        == InstanceLock.State(pid: 42, reloads: .init(begun: 3, ended: 3)))
    for (text, isRefused) in [("42 3 in force    \n", false), ("42 3 refused    \n", true)] {
      #expect(
        InstanceLock.state(written: text)
          == InstanceLock.State(pid: 42, reloads: .init(begun: 3, ended: 3, isRefused: isRefused)))
    }
    #expect(InstanceLock.state(written: "") == nil)
  }

  @Test func theLockFileTellsOfAReloadThatIsUnderWay() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  []")
    let daemon = try fixture.startReady()
    let run = fixture.directory + "/run"
    #expect(try InstanceLock.state(in: run)?.reloads == .init())
    // The reload lasts as long as it waits for who makes the table: for a second at least.
    let maker = open("/dev/shm/shmtable.\(name).ctl", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(maker) }
    try #require(maker >= 0 && flock(maker, LOCK_EX) == 0)
    try fixture.configure("  - {name: \(name), capacity: 2MiB}")
    daemon.signal(SIGHUP)
    try daemon.waitForLine("reloading")
    #expect(try InstanceLock.state(in: run)?.reloads.begun == 1)
    try daemon.waitForLine("configuration reloaded")
    #expect(try eventually { try InstanceLock.state(in: run)?.reloads == .init(begun: 1, ended: 1) })
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  @Test func whatCountsFromTheNextStartOnIsSaid() throws {
    let fixture = try DaemonFixture()
    let (first, second) = (fixture.tableName(), fixture.tableName())
    let socket = "\(fixture.directory)/redis.socket"
    let one = "  - {name: \(first), capacity: 2MiB}"
    try fixture.configure(one)
    let daemon = try fixture.startReady()
    func reload(_ text: String) throws -> [String] {
      try fixture.configure(text)
      let before = daemon.lines.count
      daemon.signal(SIGHUP)
      try daemon.waitForLine("configuration reloaded")
      return daemon.lines[before...].filter { $0.contains("next start") }
    }
    #expect(try reload(one).isEmpty)
    let http = "\(fixture.directory)/run/http.sock"
    let changed = try reload("\(one)\nresp: {socket: \(socket)}\nmonitoring: {socket: \(http)}")
    #expect(changed.count == 2, "\(changed)")
    for key in ["resp", "monitoring"] { #expect(changed.contains { $0.contains("key=\(key)") }, "\(changed)") }
    #expect(changed.allSatisfy { $0.contains("systemctl restart shmd") })
    #expect(try reload(one).isEmpty)
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
    // All tables are served that there were at the start.
    defer { unlink(socket) }
    let resp = "resp: {socket: \(socket), access: [{anyone: true, rights: [read]}]}"
    try fixture.configure("\(one)\n\(resp)")
    let other = try fixture.startReady()
    try fixture.configure("\(one)\n# The rule has another line, and is the same.\n\(resp)")
    other.signal(SIGHUP)
    try other.waitForLine("configuration reloaded")
    #expect(!other.lines.contains { $0.contains("next start") })
    try fixture.configure("\(one)\n  - {name: \(second), capacity: 2MiB}\n\(resp)")
    other.signal(SIGHUP)
    try other.waitForLine("next start")
    try other.waitForLine("configuration reloaded")
    other.signal(SIGTERM)
    #expect(try other.wait() == .code(0))
  }

  /// The table is the daemon's own, whoever it belongs to: it is stored and looked after all the time.
  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to give tables away"))
  func aTableWhoseOwnerChangesStaysInCare() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let (store, socket) = (fixture.directory + "/store", fixture.directory + "/resp.sock")
    defer {
      unlink(socket)
      for file in ["", "-wal", "-shm"] { unlink("\(store)/\(name).1.sqlite\(file)") }
      rmdir(store)
    }
    func configure(_ owner: String) throws {
      try fixture.write(
        """
        interval: 20ms
        store-directory: \(store)
        resp: {socket: \(socket)}
        tables: [{name: \(name), capacity: 2MiB, durability: every-barrier\(owner)}]
        """)
    }
    try configure(", owner: 1")
    let daemon = try fixture.startReady()
    let table = try Table.open(name, trusting: .users([1]))
    try table.set("k", 0)
    #expect(eventually { table.durableVersion >= table.version })
    for (owner, number) in [(", owner: 33", UInt32(33)), ("", 33)] {
      try configure(owner)
      daemon.signal(SIGHUP)
      try daemon.waitForLine("configuration reloaded")
      #expect(try table.administration.rights().owner == number)
      try table.barrier(durable: true) { try $0.set("k", 1) }
      #expect(daemon.transcript.contains("next start on; run: systemctl restart shmd key=resp"), "\(daemon.transcript)")
    }
    #expect(!daemon.transcript.contains("cannot be had") && !daemon.transcript.contains("stranger's, waiting"))
    #expect(daemon.transcript.contains("warning: belongs to user 33, whom the file does not name any more"))
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }

  @Test func aReloadTellsOfDurabilityAndOfWhatALivingTableCannotTake() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let table = "  - {name: \(name), capacity: 2MiB"
    let store = fixture.directory + "/store"
    defer {
      for file in ["", "-wal", "-shm"] { unlink("\(store)/\(name).1.sqlite\(file)") }
      rmdir(store)
    }
    try fixture.configure("\(table)}")
    let daemon = try fixture.startReady()
    for (change, line) in [
      (", preallocate: true", "lives without 'preallocate', and the file asks for it; it stays as it is"),
      (", huge-pages: false", "lives with 'huge-pages', and the file says false; it stays as it is"),
      (", durability: relaxed", "durability=relaxed(1s) table=\(name)"),
      (", durability: every-barrier", "durability=every-barrier table=\(name)"),
      ("", "durability=none table=\(name)"),
    ] {
      try fixture.write("interval: 20ms\nstore-directory: \(store)\ntables:\n\(table)\(change)}\n")
      daemon.signal(SIGHUP)
      try daemon.waitForLine(line)
      try daemon.waitForLine("configuration reloaded")
    }
    // A default asks for nothing.
    #expect(!daemon.lines.suffix(3).contains { $0.contains("lives with") })
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  /// Also where no watchdog wakes the loop before its round.
  @Test func aShorterIntervalCountsWithoutWaitingForTheEndOfTheLonger() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 2MiB}", interval: "60min")
    let daemon = try fixture.startReady()
    try fixture.configure("  - {name: \(name), capacity: 2MiB}", interval: "20ms")
    daemon.signal(SIGHUP)
    try daemon.waitForLine("configuration reloaded")
    // Only a round sees that it is gone.
    try Table.drop(name)
    try daemon.waitForLine("table created capacity=2MiB table=\(name)")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }
}
