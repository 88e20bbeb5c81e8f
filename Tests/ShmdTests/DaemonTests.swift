import Glibc
import SharedMemory
import SharedTable
import TestSupport
import Testing

/// The real daemon as a process.
@Suite struct DaemonTests {
  // MARK: - Start and stop

  @Test func readyMeansThatTheTablesAreThere() throws {
    let fixture = try DaemonFixture()
    let (a, b) = (fixture.tableName(), fixture.tableName())
    try fixture.configure(
      """
        - {name: \(a), capacity: 2MiB, mode: "0640", limbo-budget: 128KiB, stalled-reader: refuse}
        - {name: \(b), variant: rwlock, capacity: 3MiB}
      """)
    let manager = try NotifySocket(fixture.directory + "/notify")
    let daemon = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address])
    #expect(try manager.waitFor("READY=1").contains("STATUS=2 tables"))

    let first = try Table.open(a, access: .participant)
    #expect(first.variant == .rcu)
    #expect(first.capacityBytes == 2 << 20)
    #expect(try first.administration.rights().mode == 0o640)
    #expect(
      try first.administration.limits() == Table.Limits(limboBudgetBytes: 128 << 10, stalledReaderPolicy: .refuse))
    #expect(try Table.open(b).variant == .rwlock)
    _ = daemon
  }

  @Test func terminationStopsCleanlyAndLeavesTheTables() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 2MiB}")
    let manager = try NotifySocket(fixture.directory + "/notify")
    let daemon = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address])
    try manager.waitFor("READY=1")
    try Table.open(name).set("key", "value")
    daemon.signal(SIGTERM)
    try manager.waitFor("STOPPING=1")
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
    #expect(try Table.open(name).get("key", as: String.self) == "value")
  }

  @Test func anInterruptStopsCleanlyToo() throws {
    let fixture = try DaemonFixture()
    try fixture.configure("  []")
    let daemon = try fixture.startReady()
    daemon.signal(SIGINT)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }

  @Test func killedAndStartedAgainItAttachesToWhatIsThere() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 2MiB}")
    let first = try fixture.startReady()
    let table = try Table.open(name)
    try table.set("key", "value")
    first.signal(SIGKILL)
    #expect(try first.wait() == .signal(SIGKILL))
    try table.set("later", "works without the daemon")

    let second = try fixture.start()
    try second.waitForLine("table attached capacity=2MiB keys=2 table=\(name)")
    try second.waitForLine("ready tables=")
    #expect(try table.get("key", as: String.self) == "value")
    #expect(table.administration.isNamed)
  }

  @Test(arguments: [SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL])
  func aSignalWithoutMeaningIsIgnored(_ number: Int32) throws {
    let fixture = try DaemonFixture()
    try fixture.configure("  - {name: \(fixture.tableName()), capacity: 1MiB}")
    let daemon = try fixture.startReady()
    daemon.signal(number)
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }

  @Test func moreTablesThanTheSoftLimitOfDescriptorsHasRoomFor() throws {
    let fixture = try DaemonFixture()
    let names = (0..<40).map { _ in fixture.tableName() }
    try fixture.configure(names.map { "  - {name: \($0), capacity: 1MiB}" }.joined(separator: "\n"))
    let daemon = try fixture.start(prelude: "ulimit -Sn 64")
    try daemon.waitForLine("ready tables=")
    #expect(try names.allSatisfy { try Table.open($0).administration.isNamed })
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }

  @Test func aSecondDaemonIsRefusedAndTouchesNothing() throws {
    let fixture = try DaemonFixture()
    let (kept, new) = (fixture.tableName(), fixture.tableName())
    try fixture.configure("  - {name: \(kept), capacity: 2MiB}")
    let first = try fixture.startReady()
    try fixture.configure("  - {name: \(new), capacity: 2MiB}")
    let second = try fixture.start()
    #expect(try second.wait() == .code(75))
    #expect(
      second.lines == [
        "\(fixture.directory)/run/shmd.lock: another shmd runs already (pid \(first.pid)); "
          + "stop it first, or give --runtime-directory"
      ])
    #expect { try Table.open(new) } throws: { ($0 as? TableError)?.code == .noSuchTable }
  }

  /// A killed daemon may hang in its disk for a while yet: a manager that starts the next must not give up for that.
  @Test func underAServiceManagerASecondDaemonWaitsForTheFirstToEnd() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 2MiB}")
    let first = try fixture.startReady()
    let manager = try NotifySocket(fixture.directory + "/notify")
    let second = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address])
    try manager.waitFor("STATUS=waits for another shmd (pid \(first.pid)) to end")
    first.signal(SIGTERM)
    #expect(try first.wait() == .code(0), "\(first.transcript)")
    try manager.waitFor("READY=1")
    second.signal(SIGTERM)
    #expect(try second.wait() == .code(0), "\(second.transcript)")
  }

  // MARK: - Bad input

  @Test func aBadConfigurationStartsNothing() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 2MiB}\n  - {name: \(name), colour: red}")
    let daemon = try fixture.start()
    #expect(try daemon.wait() == .code(78))
    #expect(daemon.lines.count == 2)
    #expect(daemon.lines.allSatisfy { $0.hasPrefix("\(fixture.configurationFile):5: ") }, "\(daemon.transcript)")
    #expect { try Table.open(name) } throws: { ($0 as? TableError)?.code == .noSuchTable }
    #expect(access(fixture.directory + "/run/shmd.lock", F_OK) != 0)
  }

  @Test func aWrongOptionIsAUsageError() throws {
    let fixture = try DaemonFixture()
    let daemon = try fixture.start(["--tables"])
    #expect(try daemon.wait() == .code(64))
  }

  /// What is wrong with one table is said with its cure, and the others are kept.
  @Test func aTableThatCannotBeHadIsSaidAndTheOthersAreKept() throws {
    let fixture = try DaemonFixture()
    let (half, strange, good) = (fixture.tableName(), fixture.tableName(), fixture.tableName())
    try squat("shmtable.\(half).ctl")
    for object in [".ctl", ".data"] { try squat("shmtable.\(strange)\(object)") }
    try fixture.configure(
      [half, strange, good].map { "  - {name: \($0), capacity: 2MiB}" }.joined(separator: "\n"))
    let manager = try NotifySocket(fixture.directory + "/notify")
    let daemon = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address])
    let ready = try manager.waitFor("READY=1")
    // Whichever of both was tried first.
    #expect(ready.contains("STATUS=1 table; '"), "\(ready)")
    #expect(ready.contains(" (and 1 more)"), "\(ready)")
    try daemon.waitForLine("ready tables=\(good)")
    let said = daemon.lines.filter { $0.contains("cannot be had, tried again in each round") }
    #expect(said.count == 2, "\(daemon.transcript)")
    #expect(said.contains { $0.contains("half removed; remove it with 'shmctl drop \(half)'") }, "\(daemon.transcript)")
    #expect(
      said.contains { $0.contains("exists, and cannot be used: ") && $0.contains(strange) }, "\(daemon.transcript)")

    // The cure, as said.
    for name in [half, strange] { try Table.drop(name) }
    try daemon.waitForLine("table created")
    try daemon.waitForLine("table created")
    try manager.waitFor("STATUS=3 tables")
    for name in [half, strange, good] { try Table.open(name, access: .participant).set("k", 1) }
  }

  /// Anybody can take a name before the daemon does; that must not keep it from the other tables.
  @Test(
    .enabled(if: geteuid() == 0, "cannot run: needs root to make another user's object"),
    arguments: [[".ctl"], [".data"], [".ctl", ".data"]])
  func aStrangersNameIsSaidAndWaitedForWhileTheOthersAreKept(_ objects: [String]) throws {
    let fixture = try DaemonFixture()
    let (taken, other) = (fixture.tableName(), fixture.tableName())
    for object in objects { try squat("shmtable.\(taken)\(object)", owner: 65_533) }
    try fixture.configure("  - {name: \(taken), capacity: 2MiB}\n  - {name: \(other), capacity: 2MiB}")
    let check = try fixture.check()
    #expect(try check.wait() == .code(0), "\(check.transcript)")
    let line = try #require(check.lines.first)
    #expect(line.hasPrefix("\(fixture.configurationFile):4: table '\(taken)': warning: foreign: "), "\(line)")
    let daemon = try fixture.start()
    #expect(try daemon.waitForLine("a stranger's, waiting for it").contains("of uid 65533"))
    #expect(try daemon.waitForLine("ready tables=").hasSuffix(other))
    #expect(try !Table.open(other).isObserver)
    for object in objects { try SharedObject.unlink(name: "shmtable.\(taken)\(object)") }
    #expect(try daemon.waitForLine("table created").contains(taken))
    try Table.open(taken, access: .participant).set("k", 1)
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
    // Said once, and not in each round.
    #expect(daemon.lines.filter { $0.contains("foreign") }.count == 1, "\(daemon.transcript)")
  }

  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to make another user's object"))
  func aNameThatAStrangerTookFromARunningDaemonIsWaitedFor() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 2MiB}")
    let daemon = try fixture.startReady()
    try SharedObject.create(name: "shmtable.\(name).new", mode: 0o600).setOwner(65_533)
    // In one step, or the daemon could be the first to have the name again.
    let path = "/dev/shm/shmtable.\(name)"
    #expect(rename("\(path).new", "\(path).ctl") == 0)
    #expect(unlink("\(path).data") == 0)
    #expect(try daemon.waitForLine("table's name is a stranger's, waiting for it").contains("of uid 65533"))
    try SharedObject.unlink(name: "shmtable.\(name).ctl")
    #expect(try daemon.waitForLine("table created").contains(name))
    try Table.open(name, access: .participant).set("k", 1)
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
    #expect(daemon.lines.filter { $0.contains("name is gone") }.count == 1, "\(daemon.transcript)")
  }

  @Test func aTableThatCannotBeMadeDoesNotStopTheOthers() throws {
    let fixture = try DaemonFixture()
    let (large, small) = (fixture.tableName(), fixture.tableName())
    try fixture.configure("  - {name: \(large), capacity: 64GiB}\n  - {name: \(small), capacity: 2MiB}")
    // Address space for the daemon and the second table, but not for the first.
    let daemon = try fixture.start(prelude: "ulimit -v 8000000")
    #expect(try daemon.waitForLine("cannot be had, tried again in each round").contains("table=\(large)"))
    #expect(try daemon.waitForLine("ready tables=").hasSuffix(small))
    #expect { try Table.open(large) } throws: { ($0 as? TableError)?.code == .noSuchTable }
    try Table.open(small, access: .participant).set("k", 1)
  }

  // MARK: - Reload

  @Test func reloadAppliesWhatCanChange() throws {
    let fixture = try DaemonFixture()
    let (kept, dropped, new) = (fixture.tableName(), fixture.tableName(), fixture.tableName())
    try fixture.configure("  - {name: \(kept), capacity: 2MiB}\n  - {name: \(dropped), capacity: 2MiB}")
    let manager = try NotifySocket(fixture.directory + "/notify")
    let daemon = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address])
    try manager.waitFor("READY=1")
    let table = try Table.open(kept)
    try table.set("key", "value")

    try fixture.configure(
      """
        - {name: \(kept), capacity: 2MiB, mode: "0600", limbo-budget: 128KiB, stalled-reader: refuse}
        - {name: \(new), capacity: 2MiB}
      """)
    daemon.signal(SIGHUP)
    #expect(try manager.waitFor("RELOADING=1").contains("MONOTONIC_USEC="))
    #expect(try manager.waitFor("READY=1").contains("STATUS=2 tables"))
    #expect(
      try table.administration.limits() == Table.Limits(limboBudgetBytes: 128 << 10, stalledReaderPolicy: .refuse))
    #expect(try table.administration.rights().mode == 0o600)
    #expect(try table.get("key", as: String.self) == "value")
    #expect(table.administration.isNamed)
    #expect(try Table.open(new).count == 0)
    try daemon.waitForLine("table let go, it stays in place table=\(dropped)")
    #expect(try Table.open(dropped).count == 0)
  }

  @Test func aBadReloadIsRefusedWhole() throws {
    let fixture = try DaemonFixture()
    let (kept, new) = (fixture.tableName(), fixture.tableName())
    try fixture.configure("  - {name: \(kept), capacity: 2MiB}")
    let manager = try NotifySocket(fixture.directory + "/notify")
    let daemon = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address])
    try manager.waitFor("READY=1")
    let table = try Table.open(kept)
    let before = (try table.administration.rights(), try table.administration.limits())

    try fixture.configure(
      """
        - {name: \(new), capacity: 2MiB}
        - {name: \(kept), capacity: 2MiB, mode: "0600", limbo-budget: 128KiB, colour: red}
      """)
    daemon.signal(SIGHUP)
    try manager.waitFor("RELOADING=1")
    #expect(
      try manager.waitFor("READY=1").contains("STATUS=1 table; the configuration of before is in force, because "))
    try daemon.waitForLine("error \(fixture.configurationFile):5: unknown key 'colour'")
    try daemon.waitForLine("configuration refused, nothing has changed")
    #expect(try (table.administration.rights(), table.administration.limits()) == before)
    #expect { try Table.open(new) } throws: { ($0 as? TableError)?.code == .noSuchTable }

    // And it still reloads.
    try fixture.configure("  - {name: \(kept), capacity: 2MiB, mode: \"0600\"}")
    daemon.signal(SIGHUP)
    try manager.waitFor("RELOADING=1")
    #expect(try manager.waitFor("READY=1").hasSuffix("STATUS=1 table"))
    #expect(try table.administration.rights().mode == 0o600)
  }

  /// What `systemctl reload` starts: over when the daemon has reloaded, with the status of what came of it.
  @Test func aReloadByCommandReturnsWhenItIsDone() throws {
    let fixture = try DaemonFixture()
    let (kept, new) = (fixture.tableName(), fixture.tableName())
    try fixture.configure("  - {name: \(kept), capacity: 2MiB}")
    let nobody = try fixture.start(["--reload"])
    #expect(try nobody.wait() == .code(1))
    #expect(nobody.transcript.hasSuffix("run/shmd.lock: no shmd runs here; start it, or give --runtime-directory"))
    let daemon = try fixture.startReady()
    for round in 0..<3 {
      let name = round == 0 ? new : fixture.tableName()
      try fixture.configure("  - {name: \(kept), capacity: 2MiB}\n  - {name: \(name), capacity: 2MiB}")
      let reload = try fixture.start(["--reload"])
      #expect(try reload.wait() == .code(0), "\(reload.transcript)")
      #expect(try Table.open(name).administration.isNamed)
    }
    try fixture.configure("  - {name: \(kept), colour: red}")
    let bad = try fixture.start(["--reload"])
    #expect(try bad.wait() == .code(78))
    #expect(bad.transcript.hasPrefix("\(fixture.configurationFile):4: unknown key 'colour'"), "\(bad.transcript)")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
    // The daemon never saw the bad one.
    #expect(!daemon.transcript.contains("colour"))
  }

  /// The living table stays, and what it holds; made anew as the file says it is when it is dropped, and not before.
  @Test func aChangedCapacityIsRefusedForThatTableAndTakenWhenItIsMadeAnew() throws {
    let fixture = try DaemonFixture()
    let (kept, new) = (fixture.tableName(), fixture.tableName())
    try fixture.configure("  - {name: \(kept), capacity: 2MiB}")
    let manager = try NotifySocket(fixture.directory + "/notify")
    let daemon = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address])
    try manager.waitFor("READY=1")
    let table = try Table.open(kept)
    try table.set("key", "value")
    try fixture.configure(
      "  - {name: \(kept), capacity: 4MiB, mode: \"0600\"}\n  - {name: \(new), capacity: 2MiB}")
    daemon.signal(SIGHUP)
    try manager.waitFor("RELOADING=1")
    #expect(try manager.waitFor("READY=1").contains("STATUS=2 tables; table '\(kept)': lives with a capacity of 2MiB"))
    try daemon.waitForLine("lives with a capacity of 2MiB, and the file says 4MiB; it stays as it is.")
    #expect(table.administration.isNamed)
    #expect(table.capacityBytes == 2 << 20)
    #expect(try table.administration.rights().mode == 0o600)
    #expect(try table.get("key", as: String.self) == "value")
    #expect(try Table.open(new).administration.isNamed)

    try Table.drop(kept)
    try daemon.waitForLine("table created capacity=4MiB table=\(kept)")
    try manager.waitFor("STATUS=2 tables")
    #expect(try Table.open(kept).capacityBytes == 4 << 20)
  }

  // MARK: - Care

  /// The budget follows from the capacity that the table has.
  @Test func aRefusedCapacityChangesNoLimit() throws {
    let fixture = try DaemonFixture()
    let (derived, given) = (fixture.tableName(), fixture.tableName())
    let first = try Table.create(derived, Table.Options(capacityBytes: 4 << 20))
    let second = try Table.create(given, Table.Options(capacityBytes: 4 << 20))
    try fixture.configure(
      """
        - {name: \(derived), capacity: 64MiB}
        - {name: \(given), capacity: 64MiB, limbo-budget: 32MiB}
      """)
    let daemon = try fixture.startReady()
    #expect(daemon.transcript.contains("lives with a capacity of 4MiB, and the file says 64MiB"))
    #expect(daemon.transcript.contains("table attached capacity=4MiB keys=0 table=\(derived)"), "\(daemon.transcript)")
    #expect(try first.administration.limits().limboBudgetBytes == 1 << 20)
    #expect(try second.administration.limits().limboBudgetBytes == 4 << 20)
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }

  @Test func expiredKeysAreRemoved() throws {
    let fixture = try DaemonFixture()
    let (a, b) = (fixture.tableName(), fixture.tableName())
    try fixture.configure("  - {name: \(a), capacity: 4MiB}\n  - {name: \(b), variant: rwlock, capacity: 4MiB}")
    let daemon = try fixture.startReady()
    for name in [a, b] {
      let table = try Table.open(name)
      try table.barrier { transaction in
        for index in 0..<3000 { try transaction.set("short \(index)", index, expires: .after(.milliseconds(1))) }
        for index in 0..<300 { try transaction.set("long \(index)", index) }
        for index in 0..<300 { try transaction.set("later \(index)", index, expires: .after(.seconds(3600))) }
      }
      // The barrier's commit is before these: no key that the daemon sees can be missed by the count.
      while table.count > 600 { try daemon.waitForLine("expired keys removed keys=") }
      #expect(table.count == 600)
      #expect(try table.get("long 7", as: Int.self) == 7)
      #expect(try table.get("later 7", as: Int.self) == 7)
    }
  }

  @Test func memoryOfATableAtRestGoesBack() throws {
    let fixture = try DaemonFixture()
    let (a, b) = (fixture.tableName(), fixture.tableName())
    try fixture.configure("  - {name: \(a), capacity: 16MiB}\n  - {name: \(b), variant: rwlock, capacity: 16MiB}")
    let daemon = try fixture.startReady()
    for name in [a, b] {
      let table = try Table.open(name)
      let value = [UInt8](repeating: 1, count: 1000)
      for index in 0..<10_000 { try table.set("key \(index)", value) }
      let full = table.statistics.claimedBytes
      for index in 0..<10_000 where index % 100 != 0 { try table.remove("key \(index)") }
      while table.statistics.claimedBytes > full / 4 { try daemon.waitForLine("memory given back bytes=") }
      for index in stride(from: 0, to: 10_000, by: 100) { #expect(try table.bytes(forKey: "key \(index)") == value) }
    }
  }

  @Test func aDeadWritersWorkIsUndone() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 2MiB}")
    let daemon = try fixture.startReady()
    let table = try Table.open(name)
    let worker = try WorkerProcess("shmd-test-worker", [name])
    try worker.expectLine("inside")
    try worker.killAndWait()
    try daemon.waitForLine("a writer died in its barrier; its work was undone or finished recoveries=1 table=\(name)")
    #expect(table.administration.recoveryCount == 1)
    #expect(try table.get("half", as: String.self) == nil)
    #expect(daemon.lines.contains { $0.contains("participant ended") && $0.contains("pid=\(worker.pid) ") })
  }

  @Test(arguments: [[".ctl"], [".data"], [".ctl", ".data"]])
  func aTableWhoseNameVanishedIsMadeAnew(_ objects: [String]) throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 2MiB}")
    let daemon = try fixture.startReady()
    for object in objects { try SharedObject.unlink(name: "shmtable.\(name)\(object)") }
    try daemon.waitForLine("table's name is gone")
    try daemon.waitForLine("table created capacity=2MiB table=\(name)")
    #expect(try Table.open(name, access: .participant).administration.isNamed)
  }

  @Test func aTableThatSomeoneElseMadeAnewIsAttached() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    // So long an interval that the daemon sees only the outcome; a reload does not wait for it.
    try fixture.configure("  - {name: \(name), capacity: 2MiB}", interval: "60min")
    let daemon = try fixture.startReady()
    try Table.drop(name)
    let other = try Table.create(name, Table.Options(capacityBytes: 2 << 20))
    try other.set("whose", "the other's")
    daemon.signal(SIGHUP)
    try daemon.waitForLine("table attached capacity=2MiB keys=1 table=\(name)")
    #expect(other.administration.isNamed)
  }

  // MARK: - Watchdog

  @Test func theWatchdogIsFedByTheLoop() throws {
    let fixture = try DaemonFixture()
    // The interval is far longer than the watchdog: pings do not wait for rounds.
    try fixture.configure("  - {name: \(fixture.tableName()), capacity: 2MiB}", interval: "60min")
    let manager = try NotifySocket("@shmd-test-\(getpid())-watchdog")
    let daemon = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "200000"])
    try manager.waitFor("READY=1")
    for _ in 0..<5 { try manager.waitFor("WATCHDOG=1") }
    _ = daemon
  }

  @Test func withoutAWatchdogThereAreNoPings() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 2MiB}", interval: "10ms")
    let manager = try NotifySocket(fixture.directory + "/notify")
    let daemon = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address])
    try manager.waitFor("READY=1")
    // Two of its rounds, in each of which it would ping.
    let table = try Table.open(name)
    for round in 0..<2 {
      try table.set("k\(round)", 1, expires: .after(.milliseconds(1)))
      try daemon.waitForLine("expired keys removed")
    }
    daemon.signal(SIGTERM)
    try manager.waitFor("STOPPING=1")
    #expect(!manager.messages.contains("WATCHDOG=1"))
    #expect(try daemon.wait() == .code(0))
  }

  // MARK: - Log

  @Test func inTheJournalLinesBeginWithTheirPriority() throws {
    let fixture = try DaemonFixture()
    try fixture.configure("  []")
    // Only if the variable names what standard error leads to.
    let elsewhere = try fixture.start(environment: ["JOURNAL_STREAM": "1:1"])
    #expect(try elsewhere.waitForLine("ready").contains("Z notice ready"))
    elsewhere.signal(SIGTERM)
    #expect(try elsewhere.wait() == .code(0))

    let journal = try fixture.start(prelude: "exec 3>&1; export JOURNAL_STREAM=$(stat -L -c %d:%i /dev/fd/3)")
    #expect(try journal.waitForLine("ready") == "<5>ready tables=\"\"")
  }
}
