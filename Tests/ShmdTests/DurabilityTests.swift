import Glibc
import Logging
import SharedTable
import Synchronization
import TableStore
import TestSupport
import Testing

@testable import ShmdCore

/// Tables that the daemon stores.
@Suite struct DurabilityTests {
  @Test func durabilitiesAreReadAndOthersRefused() throws {
    #expect(try Scalars.durability("none") == .none)
    #expect(try Scalars.durability("every-barrier") == .everyBarrier)
    #expect(try Scalars.durability("relaxed") == .relaxed(.seconds(1)))
    #expect(try Scalars.durability("relaxed(250ms)") == .relaxed(.milliseconds(250)))
    for text in ["always", "relaxed(", "relaxed()", "relaxed(1ms)", ""] {
      #expect(throws: Complaint.self) { try Scalars.durability(text) }
    }
    #expect(throws: Complaint.self) { try Scalars.directory("var/lib") }
  }

  @Test func aDurableTableComesBackAfterAReboot() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let stores = try fixture.storeTable(name, "relaxed(60min)")
    defer { stores.remove() }
    let first = try fixture.startReady()
    let table = try Table.open(name)
    try table.set("a", "stays")
    let entry = try table.entry(forKey: "a")
    // Within the hour nothing is due: the last sync stores it.
    first.signal(SIGTERM)
    #expect(try first.wait() == .code(0))
    removeObjects(ofTable: name)
    let manager = try NotifySocket(fixture.directory + "/notify")
    let second = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address])
    // Before the start is over: reading a store may take longer than the unit gives.
    try manager.waitFor("EXTEND_TIMEOUT_USEC=300000000")
    #expect(!manager.messages.contains { $0.contains("READY=1") })
    try second.waitForLine("ready tables=")
    #expect(second.transcript.contains("table restored from its store"))
    let back = try Table.open(name)
    #expect(try back.entry(forKey: "a") == entry)
    #expect(back.version > table.version)
    second.signal(SIGTERM)
    #expect(try second.wait() == .code(0))
  }

  /// What is written to a table that is there, while the daemon still reads the store of another one, is stored by a stop.
  @Test func aStopInAStartStoresWhatIsInCare() throws {
    let fixture = try DaemonFixture()
    let (there, large) = (fixture.tableName(), fixture.tableName())
    let stores = try fixture.storeTable(there, "relaxed(60min)")
    let other = StoreFiles(directory: stores.directory, table: large)
    defer {
      other.remove()
      stores.remove()
    }
    try fixture.write(
      """
      store-directory: \(stores.directory)
      tables:
        - {name: \(there), capacity: 4MiB, durability: relaxed(60min)}
        - {name: \(large), capacity: 64MiB, durability: relaxed(60min)}
      """)
    let first = try fixture.startReady()
    let (table, value) = (try Table.open(there), [UInt8](repeating: 7, count: 1000))
    try Table.open(large).barrier { tx in for index in 0..<30_000 { try tx.set("key \(index)", value) } }
    first.signal(SIGTERM)
    #expect(try first.wait() == .code(0), "\(first.transcript)")
    removeObjects(ofTable: large)

    let second = try fixture.start()
    // The table before it has its keeper by then.
    let begins = eventually { access("/dev/shm/shmtable.\(large).ctl", F_OK) == 0 }
    second.signal(SIGSTOP)
    try #require(begins)
    try table.set("k", "stays")
    second.signal(SIGTERM)
    second.signal(SIGCONT)
    #expect(try second.wait() == .code(0), "\(second.transcript)")
    if second.transcript.contains("ready tables=") {
      print("not shown, a stop in a start: it was over before the stop")
    }
    removeObjects(ofTable: there)

    let third = try fixture.startReady()
    #expect(try Table.open(there).get("k", as: String.self) == "stays")
    #expect(try Table.open(large).count == 30_000)
    third.signal(SIGTERM)
    #expect(try third.wait() == .code(0), "\(third.transcript)")
  }

  /// What `shmctl set --sync` has returned for is there after a kill and a reboot.
  @Test func whatIsSyncedOutlivesTheDaemonAndTheTable() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let stores = try fixture.storeTable(name)
    defer { stores.remove() }
    let first = try fixture.startReady()
    try first.waitForStore(of: name)
    let set = try WorkerProcess.run("shmctl", ["set", "--sync", "-t", name, "k", "synced"], timeoutSeconds: 60)
    #expect(set.exit == .code(0), "\(set)")
    first.signal(SIGKILL)
    #expect(try first.wait() == .signal(SIGKILL))
    removeObjects(ofTable: name)
    let second = try fixture.startReady()
    #expect(try Table.open(name).get("k", as: String.self) == "synced")
    second.signal(SIGTERM)
    #expect(try second.wait() == .code(0))
  }

  /// WAITAOF answers 1 for what is there after a kill and a reboot, and 0 for what its store does not have yet.
  @Test func whatRedisClientsWaitForOutlivesTheDaemonAndTheTable() throws {
    let fixture = try DaemonFixture()
    let (stored, due) = (fixture.tableName(), fixture.tableName())
    let stores = try fixture.storeTable(stored)
    defer { stores.remove() }
    let later = StoreFiles(directory: stores.directory, table: due)
    defer { later.remove() }
    let socket = fixture.directory + "/resp.sock"
    defer { unlink(socket) }
    try fixture.write(
      """
      interval: 20ms
      store-directory: \(stores.directory)
      tables:
        - {name: \(stored), capacity: 4MiB, durability: every-barrier}
        - {name: \(due), capacity: 4MiB, durability: relaxed(60min)}
      resp: {socket: \(socket)}
      """)
    let first = try fixture.startReady()
    try first.waitForStore(of: stored)
    // What is set before the store is made is in it, and then is not late.
    try first.waitUntilSaid("store written anew table=\(due)")
    let client = try RedisClient(socket)
    #expect(try client.call("SET", "k", "waited for") == "+OK")
    #expect(try client.call("WAITAOF", "1", "0", "0") == "[:1 :0]")
    let table = try Table.open(stored)
    #expect(table.durableVersion == table.version)
    #expect(try client.call("SELECT", "1") == "+OK")
    #expect(try client.call("SET", "k", "not due") == "+OK")
    #expect(try client.call("WAITAOF", "1", "0", "100") == "[:0 :0]")
    first.signal(SIGKILL)
    #expect(try first.wait() == .signal(SIGKILL))
    removeObjects(ofTable: stored)
    removeObjects(ofTable: due)
    let second = try fixture.startReady()
    #expect(try Table.open(stored).get("k", as: String.self) == "waited for")
    #expect(try Table.open(due).get("k", as: String.self) == nil)
    second.signal(SIGTERM)
    #expect(try second.wait() == .code(0))
  }

  /// Who waits would wait for a store that nobody keeps.
  @Test(arguments: ["{name: NAME, capacity: 4MiB}", "{name: another, capacity: 4MiB}"])
  func aTableThatIsStoredNoMoreSaysSo(_ tables: String) throws {
    let fixture = try DaemonFixture()
    let (name, other) = (fixture.tableName(), fixture.tableName())
    let stores = try fixture.storeTable(name)
    defer { stores.remove() }
    let daemon = try fixture.startReady()
    try daemon.waitForStore(of: name)
    let line = tables.replacing("NAME", with: name).replacing("another", with: other)
    try fixture.write("interval: 20ms\nstore-directory: \(stores.directory)\ntables: [\(line)]\n")
    daemon.signal(SIGHUP)
    let table = try Table.open(name)
    try table.set("later", 1)
    let isSaid = eventually {
      do throws(TableError) {
        try table.waitUntilDurable(table.version, timeout: .zero)
      } catch {
        return error.message.contains("no store keeps this table")
      }
      // The last that was stored.
      _ = try? table.set("later", 1)
      return false
    }
    #expect(isSaid)
    // And once more it is kept.
    _ = try fixture.storeTable(name)
    daemon.signal(SIGHUP)
    try daemon.waitForStore(of: name)
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  /// Somebody removes a table's objects under the daemon: it makes the table anew, with all that was in it.
  @Test func aTableWhoseNameIsTakenAwayComesBack() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let stores = try fixture.storeTable(name)
    defer { stores.remove() }
    let daemon = try fixture.startReady()
    try Table.open(name).set("k", "stays")
    removeObjects(ofTable: name)
    try daemon.waitForLine("table restored from its store")
    #expect(try Table.open(name, timeout: .seconds(60)).get("k", as: String.self) == "stays")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  /// What the daemon may not do is found out on the host, once the file is read: nothing has changed then, the stores neither.
  @Test func aRefusedReloadLeavesTheStoresWhereTheyAre() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let stores = try fixture.storeTable(name)
    defer { stores.remove() }
    let user = try fixture.giveAway()
    let daemon = try fixture.start(prelude: fixture.running(as: user))
    try daemon.waitForLine("ready tables=")
    let table = try Table.open(name, trusting: .users([user]))
    try table.set("k", "stays")
    let isStored = eventually { table.durableVersion >= table.version }
    #expect(isStored)
    let other = StoreFiles(directory: fixture.directory + "/other", table: name)
    defer { other.remove() }
    try fixture.write(
      """
      interval: 20ms
      store-directory: \(other.directory)
      tables:
        - {name: \(name), capacity: 4MiB, durability: every-barrier, owner: \(user + 1)}
      """)
    daemon.signal(SIGHUP)
    try daemon.waitForLine("configuration refused, nothing has changed")
    removeObjects(ofTable: name)
    let isBack = eventually { (try? Table.open(name, trusting: .users([user]))) != nil }
    #expect(isBack)
    #expect(try Table.open(name, trusting: .users([user]), timeout: .seconds(60)).get("k", as: String.self) == "stays")
    #expect(access(other.directory, F_OK) != 0)
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  /// What is durable lies where the next daemon looks for it, whenever the host goes down.
  @Test func aReloadDoesNotLeaveStoresBehind() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let stores = try fixture.storeTable(name)
    defer { stores.remove() }
    let other = StoreFiles(directory: fixture.directory + "/other", table: name)
    defer { other.remove() }
    let daemon = try fixture.startReady()
    try daemon.waitForStore(of: name)
    let table = try Table.open(name)
    try table.barrier(durable: true) { try $0.set("k", "stays") }
    try fixture.write(
      "interval: 20ms\nstore-directory: \(other.directory)\ntables: [{name: \(name), capacity: 4MiB, durability: every-barrier}]\n"
    )
    daemon.signal(SIGHUP)
    try daemon.waitForLine(
      "'\(name)' is stored in \(stores.directory), and 'store-directory' says \(other.directory); leave it as it was"
    )
    #expect(access(other.directory, F_OK) != 0)
    try table.barrier(durable: true) { try $0.set("k", "moves") }
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))

    #expect(rename(stores.directory, other.directory) == 0)
    let next = try fixture.startReady()
    try next.waitForStore(of: name)
    try table.barrier(durable: true) { try $0.set("l", "too") }
    removeObjects(ofTable: name)
    try next.waitForLine("table restored from its store")
    let back = try Table.open(name, timeout: .seconds(60))
    #expect(try (back.get("k", as: String.self), back.get("l", as: String.self)) == ("moves", "too"))
    next.signal(SIGTERM)
    #expect(try next.wait() == .code(0))
  }

  /// Each try fills what room there is: a store that did not fit is read again after a minute, or a reload.
  @Test func aStoreThatDoesNotFitIsNotReadEachRound() async throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let files = StoreFiles(directory: fixture.directory + "/stores", table: name)
    defer { files.remove() }
    let stores = Stores(log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    stores.use(files.directory)
    var configuration = TableConfiguration(
      file: "f", name: name, options: Table.Options(capacityBytes: 8 << 20), durability: .everyBarrier, lines: [:])
    let table = try Table.create(name, configuration.options)
    for index in 0..<32 { try await table.set("key \(index)", [UInt8](repeating: 7, count: 100_000)) }
    stores.follow([(configuration, table)])
    let isStored = await comesTrue { table.durableVersion >= table.version }
    #expect(isStored)
    await stores.stop()
    removeObjects(ofTable: name)
    configuration.options.capacityBytes = 1 << 20
    #expect(throws: TableError.self) { try stores.restore(configuration) }
    // It would be seen that it is gone, if it were looked at.
    files.remove()
    let again = #expect(throws: TableError.self) { try stores.restore(configuration) }
    #expect(again?.code == .full)
    stores.use(files.directory)
    #expect(try stores.restore(configuration) == nil)
  }

  /// Others may be read from their stores for minutes, and what is written meanwhile is to be stored.
  @Test func aTableIsStoredBeforeTheNextOneIsMade() async throws {
    let fixture = try DaemonFixture()
    let names = [fixture.tableName(), fixture.tableName()]
    let files = names.map { StoreFiles(directory: fixture.directory + "/stores", table: $0) }
    defer { for file in files { file.remove() } }
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let live = Mutex<[[Bool]]>([])
    let stores = Stores(log: log) { table, mode, directory, report throws(StoreError) in
      let areThere = names.map { access("/dev/shm/shmtable.\($0).data", F_OK) == 0 }
      live.withLock { $0.append(areThere) }
      return try StoreKeeper(table, mode, in: directory, report: report)
    }
    var configuration = Configuration(
      file: "f",
      tables: names.map {
        TableConfiguration(
          file: "f", name: $0, options: Table.Options(capacityBytes: 2 << 20), durability: .everyBarrier, lines: [:])
      })
    configuration.storeDirectory = files[0].directory
    try await TableKeeper(log: log, stores: stores).apply(configuration)
    #expect(live.withLock(\.self) == [[true, false], [true, true]])
    await stores.stop()
  }

  /// The table is in shmd's memory alone then. It comes back when all of it is stored, and not as an older file has it.
  @Test(arguments: [true, false])
  func aTableThatLosesItsNameBeforeItIsStoredIsNotThrownAway(hasThreads: Bool) async throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let files = StoreFiles(directory: fixture.directory + "/stores", table: name)
    defer { files.remove() }
    let startsKeepers = Mutex(true)
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let stores = Stores(log: log) { table, mode, directory, report throws(StoreError) in
      // A directory that cannot be had, for want of a thread that cannot.
      guard startsKeepers.withLock(\.self) else { throw StoreDirectory("/nonexistent/stores").obstacle! }
      return try StoreKeeper(table, mode, in: directory, report: report)
    }
    stores.use(files.directory)
    let configuration = TableConfiguration(
      file: "f", name: name, options: Table.Options(capacityBytes: 4 << 20), durability: .relaxed(.seconds(3600)),
      lines: [:])
    var table: Table? = try Table.create(name, configuration.options)
    try await table!.set("k", "stored")
    stores.follow([(configuration, table!)])
    let isStored = await comesTrue { [table] in table!.durableVersion >= table!.version }
    #expect(isStored)
    try await table!.set("k", "only in memory")
    // Something that is no store lies in its place, so the last sync fails. It comes there in one step: the keeper would take an empty file, or
    // none, for a new store.
    let file = "\(files.directory)/\(name).1.sqlite"
    close(open(file + ".new", O_CREAT | O_WRONLY, 0o600))
    #expect(truncate(file + ".new", 4096) == 0)
    #expect(link(file, file + ".kept") == 0 && rename(file + ".new", file) == 0)
    unlink(file + "-wal")
    removeObjects(ofTable: name)
    table = nil
    startsKeepers.withLock { $0 = hasThreads }
    for _ in 0..<2 {
      let refused = #expect(throws: TableError.self) { try stores.restore(configuration) }
      #expect(refused?.message.contains("lost its name before all of it was stored") == true)
      // The daemon has no other table to look after.
      stores.follow([])
    }
    #expect(stores.obstacle(to: Configuration(file: "f", tables: [configuration])) != nil)
    // As the store's error says.
    unlink(file)
    startsKeepers.withLock { $0 = true }
    let back = Mutex<Table?>(nil)
    let isBack = await comesTrue {
      back.withLock { found in
        found = (try? stores.restore(configuration)) ?? nil
        return found != nil
      }
    }
    #expect(isBack)
    let value = try back.withLock { try $0?.get("k", as: String.self) }
    #expect(value == "only in memory")
    await stores.stop()
    unlink(file + ".kept")
  }

  /// A store that cannot be kept stands in the status line until what it says was done.
  @Test func aStoreThatFailsStandsInTheStatusLine() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let stores = try fixture.storeTable(name)
    defer { stores.remove() }
    let first = try fixture.startReady()
    try Table.open(name).set("k", "stored")
    first.signal(SIGTERM)
    #expect(try first.wait() == .code(0))
    try Table.drop(name)
    _ = try Table.create(name, Table.Options(capacityBytes: 4 << 20))

    let manager = try NotifySocket(fixture.directory + "/notify")
    let second = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address])
    let status = try manager.waitForLine(containing: "'\(name)' is not stored: ")
    #expect(status.contains("is the store of another table of this name"))
    // As it says: drop the table, and it is made anew from the store.
    try Table.drop(name)
    try second.waitForLine("table restored from its store")
    try manager.waitFor("STATUS=1 table")
    #expect(try Table.open(name).get("k", as: String.self) == "stored")
    second.signal(SIGTERM)
    #expect(try second.wait() == .code(0))
  }

  /// Whoever has stopped the daemon to drop the table is told that this loses something.
  @Test func aStopThatCouldNotStoreIsAFailure() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let stores = try fixture.storeTable(name, "relaxed(60min)")
    defer { stores.remove() }
    let table = try Table.create(name, Table.Options(capacityBytes: 4 << 20))
    // A file of the daemon's may grow to 1 MiB, as on a disk that is full then.
    let daemon = try fixture.start(prelude: "trap '' XFSZ; ulimit -f 1024")
    try daemon.waitUntilSaid("ready tables=")
    for index in 0..<3000 { try table.set("key \(index)", [UInt8](repeating: UInt8(index & 255), count: 900)) }
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(1), "\(daemon.transcript)")
    #expect(daemon.transcript.contains("not all is stored"), "\(daemon.transcript)")
    #expect(daemon.transcript.contains("'\(name)' is not stored: "), "\(daemon.transcript)")
  }

  /// The store would be that of the table before, and nothing of the new one would be stored.
  @Test func aStoredTableIsResizedOnlyByForce() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    // No round comes between the old table and the new one: it would make that from the store.
    let stores = try fixture.storeTable(name, interval: "60min")
    defer { stores.remove() }
    let daemon = try fixture.startReady()
    try daemon.waitForStore(of: name)
    func resize(_ options: [String]) throws -> (exit: WorkerProcess.Exit, output: String, errors: String) {
      try WorkerProcess.run("shmctl", ["resize", name, "--capacity", "8MiB"] + options, timeoutSeconds: 60)
    }
    let refused = try resize([])
    #expect(refused.exit == .code(11), "\(refused.errors)")
    #expect(refused.errors.contains("table '\(name)': shmd stores it, and would not store the new one"))
    #expect(try Table.open(name).capacityBytes == 4 << 20)

    let forced = try resize(["--force"])
    #expect(forced.exit == .code(0), "\(forced.errors)")
    #expect(forced.errors.contains("move '\(name).N.sqlite' and its '-wal' away"), "\(forced.errors)")
    let table = try Table.open(name)
    #expect(table.capacityBytes == 8 << 20)
    daemon.signal(SIGHUP)
    try daemon.waitForLine("is the store of another table of this name")
    // As both say: it is moved away, and the table is stored.
    stores.remove()
    #expect(eventually { table.durableVersion >= table.version })
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }
}

/// Where the stores of a test's daemon lie.
struct StoreFiles {
  let directory: String
  let table: String

  func remove() {
    for generation in 1...3 {
      for suffix in ["", "-wal", "-shm", "-journal"] { unlink("\(directory)/\(table).\(generation).sqlite\(suffix)") }
    }
    rmdir(directory)
  }
}

extension DaemonFixture {
  /// Configures one table, which is stored.
  fileprivate func storeTable(
    _ name: String, _ durability: String = "every-barrier", interval: String = "20ms"
  ) throws -> StoreFiles {
    let stores = StoreFiles(directory: directory + "/stores", table: name)
    try write(
      """
      interval: \(interval)
      store-directory: \(stores.directory)
      tables:
        - {name: \(name), capacity: 4MiB, durability: \(durability)}
      """)
    return stores
  }
}

extension LoggingProcess {
  /// Until then nobody may wait for what the daemon stores.
  fileprivate func waitForStore(of name: String) throws {
    let table = try Table.open(name)
    try table.set("first", 1)
    let isStored = eventually { table.durableVersion >= table.version }
    guard isStored else { throw Failure("'\(name)' is not stored:\n\(transcript)") }
  }
}
