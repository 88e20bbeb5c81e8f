import Glibc
import SharedMemory
import SharedTable
import TableStore
import TestSupport
import Testing

/// What `--check` and `--print-config` say of a file, its drop-ins and the host.
@Suite struct CheckTests {
  @Test func checkingChangesNothing() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 2MiB}")
    let check = try fixture.check()
    #expect(try check.wait() == .code(0))
    #expect(check.lines.isEmpty)
    #expect(throws: TableError.self) { try Table.open(name) }
    #expect(access(fixture.directory + "/run", F_OK) != 0)
  }

  @Test func aUserIsOneToCheckAs() throws {
    for options in [[], ["--reload"], ["--print-config"]] {
      let run = try WorkerProcess.run("shmd", ["--user", "root", "--config", "/none"] + options, timeoutSeconds: 60)
      #expect(run.exit == .code(64) && run.errors.contains("--user goes with --check"), "\(options): \(run.errors)")
    }
  }

  /// A script that keeps what is printed must not take a part of it for the whole.
  @Test func aConfigurationThatCannotBePrintedIsAFailure() throws {
    let fixture = try DaemonFixture()
    try fixture.configure("  - {name: \(fixture.tableName()), capacity: 2MiB}")
    let program = WorkerProcess.productDirectory + "/shmd"
    let run = try WorkerProcess.run(
      "/bin/sh", ["-c", "\"$0\" --config \"$1\" --print-config >/dev/full", program, fixture.configurationFile],
      timeoutSeconds: 60)
    #expect(run.exit == .code(1))
    #expect(run.errors.contains("the configuration cannot be printed: write: "), "\(run.errors)")
    for option in ["--version", "--help"] {
      let run = try WorkerProcess.run(
        "/bin/sh", ["-c", "\"$0\" \"$1\" >/dev/full", program, option], timeoutSeconds: 60)
      #expect(run.exit == .code(1) && run.errors.contains(" cannot be printed: write: "), "\(option): \(run.errors)")
    }
  }

  /// With a dump as well, `load` would find its keys there.
  @Test func aDurableTableIsMadeAnewFromItsStore() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let table = try Table.create(name, Table.Options(capacityBytes: 2 << 20))
    try table.set("k", "in memory alone")
    let stores = StoreFiles(directory: fixture.directory + "/stores", table: name)
    defer { stores.remove() }
    try fixture.write(
      """
      store-directory: \(stores.directory)
      tables:
        - {name: \(name), capacity: 4MiB, durability: relaxed}
      """)
    // It would come back empty, or as what another table of this name has left.
    let early = try fixture.check()
    #expect(try early.wait() == .code(78))
    #expect(
      early.lines.contains {
        $0.contains("; it stays as it is. Its store does not hold it yet, so do not drop it: ")
          && !$0.contains("shmctl drop")
      }, "\(early.transcript)")

    let follower = try Follower(table, in: StoreDirectory(stores.directory))
    try follower.sync()
    follower.close()
    let check = try fixture.check()
    #expect(try check.wait() == .code(78))
    let advice =
      "To make it anew with what its store holds, stop its writers and run: "
      + "systemctl reload shmd && shmctl drop \(name) && systemctl reload shmd"
    #expect(check.lines.contains { $0.hasSuffix("it stays as it is. \(advice)") }, "\(check.transcript)")
  }

  @Test func checkingComparesWithTheTablesThatLive() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let table = try Table.create(name, Table.Options(variant: .rwlock, capacityBytes: 2 << 20))
    try fixture.configure("  - name: \(name)\n    variant: rcu\n    capacity: 4MiB")
    let check = try fixture.check()
    #expect(try check.wait() == .code(78))
    let tail =
      "; it stays as it is. To make it anew with what it holds, stop its writers and run: "
      + "systemctl reload shmd && shmctl dump -t \(name) -o \(name).dump && shmctl drop \(name) && systemctl reload shmd && "
      + "shmctl load -t \(name) \(name).dump"
    let start = "\(fixture.configurationFile)"
    #expect(
      check.lines == [
        "\(start):5: table '\(name)': lives as rwlock, and the file says rcu\(tail)",
        "\(start):6: table '\(name)': lives with a capacity of 2MiB, and the file says 4MiB\(tail)",
      ])
    #expect(table.administration.isNamed)
  }

  @Test func checkingTellsOfRightsThatTheStartChanges() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    _ = try Table.create(name, Table.Options(capacityBytes: 2 << 20, mode: 0o600))
    let check = try fixture.check(as: "root", "  - {name: \(name), capacity: 2MiB, mode: \"0640\"}")
    #expect(try check.wait() == .code(0), "\(check.transcript)")
    #expect(
      check.lines == [
        "\(fixture.configurationFile):4: table '\(name)': warning: lives with mode 0600, and a start or a reload makes that 0640"
      ])
    #expect(try Table.open(name).administration.rights().mode == 0o600)
  }

  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to give tables away"))
  func whatIsToBeRunForATableOfAnotherUserNamesTheUser() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let options = Table.Options(capacityBytes: 2 << 20, owner: 33)
    let table = try Table.create(name, options)
    try table.set("k", "stays")
    let check = try fixture.check(as: "root", "  - {name: \(name), capacity: 4MiB, owner: 33}")
    #expect(try check.wait() == .code(78), "\(check.transcript)")
    // As it says, with the daemon's part done here.
    for command in ["dump", "drop", "load"] {
      let start = try #require(check.transcript.firstRange(of: "shmctl \(command)")).lowerBound
      let words = check.transcript[start...].split(separator: "&").first!.split(separator: " ").dropFirst().map {
        $0.hasSuffix(".dump") ? "\(fixture.directory)/dump" : String($0)
      }
      let run = try WorkerProcess.run("shmctl", words, timeoutSeconds: 60)
      #expect(run.exit == .code(0), "\(words): \(run.errors)")
      if command == "drop" { _ = try Table.create(name, options) }
    }
    unlink(fixture.directory + "/dump")
    #expect(try Table.open(name, trusting: .users([33])).get("k", as: String.self) == "stays")
  }

  /// What the start would say of single tables, the check says too; and its status is another than for a good host.
  @Test func checkingNamesTablesThatCannotBeHad() throws {
    let fixture = try DaemonFixture()
    let (half, strange) = (fixture.tableName(), fixture.tableName())
    try squat("shmtable.\(half).ctl")
    for object in [".ctl", ".data"] { try squat("shmtable.\(strange)\(object)") }
    try fixture.configure("  - {name: \(half), capacity: 2MiB}\n  - {name: \(strange), capacity: 2MiB}")
    let check = try fixture.check()
    #expect(try check.wait() == .code(1))
    let start = fixture.configurationFile
    #expect(check.lines.count == 2, "\(check.transcript)")
    #expect(
      check.lines.first
        == "\(start):4: table '\(half)': cannot be had: a control object without its data object lies under the name, "
        + "so it was half removed; remove it with 'shmctl drop \(half)'")
    #expect(
      check.lines.last?.hasPrefix("\(start):5: table '\(strange)': cannot be had: exists, and cannot be used: ") == true
    )
  }

  @Test func checkingNamesADirectoryWhereNothingCanBeStored() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let place = fixture.configurationFile + ":3"
    func check(_ directory: String, _ durability: String) throws -> LoggingProcess {
      try fixture.write(
        "tables:\n  - {name: \(name), capacity: 2MiB, durability: \(durability)}\nstore-directory: \(directory)\n")
      return try fixture.check()
    }
    for (directory, why) in [
      ("\(fixture.directory)/none/store", "cannot be made: No such file or directory"),
      (fixture.configurationFile, "cannot be used: Not a directory"),
    ] {
      let run = try check(directory, "relaxed")
      #expect(try run.wait() == .code(1), "\(run.transcript)")
      #expect(
        run.transcript.hasPrefix("\(place): \(name) cannot be stored: \(directory): \(why); "), "\(run.transcript)")
      let none = try check(directory, "none")
      #expect(try none.wait() == .code(0), "\(none.transcript)")
    }
    // The daemon makes a last part that is missing; a check makes nothing.
    let fine = try check(fixture.directory + "/store", "every-barrier")
    #expect(try fine.wait() == .code(0), "\(fine.transcript)")
    #expect(access(fixture.directory + "/store", F_OK) != 0)
    let inMemory = "/dev/shm/\(name)"
    #expect(mkdir(inMemory, 0o700) == 0)
    defer { rmdir(inMemory) }
    let memory = try check(inMemory, "relaxed")
    #expect(try memory.wait() == .code(0) && memory.lines.count == 1, "\(memory.transcript)")
    #expect(
      memory.transcript.hasPrefix("\(place): warning: \(inMemory) lies in memory, which a reboot empties; "),
      "\(memory.transcript)")
    // What is stored is not for everybody.
    #expect(mkdir(fixture.directory + "/store", 0o700) == 0)
    defer { rmdir(fixture.directory + "/store") }
    for (mode, says) in [(mode_t(0o755), true), (0o750, true), (0o711, false), (0o700, false)] {
      #expect(chmod(fixture.directory + "/store", mode) == 0)
      let check = try check(fixture.directory + "/store", "relaxed")
      #expect(try check.wait() == .code(0), "\(check.transcript)")
      #expect(check.transcript.contains("store can be read by its group or by others; run: chmod 0700") == says)
    }
  }

  private static let mayMount = system("unshare -m true 2>/dev/null") == 0

  /// As a unit with `ProtectSystem=` sees a directory that it does not name.
  @Test(.enabled(if: mayMount, "cannot run: needs the right to a mount namespace"))
  func whoFindsTheDirectoryReadOnlyIsToldWhatItsUnitNeeds() throws {
    let fixture = try DaemonFixture()
    let store = fixture.directory + "/store"
    #expect(mkdir(store, 0o700) == 0)
    defer { rmdir(store) }
    let script = "mount --bind \(store) \(store) && mount -o remount,bind,ro \(store) && exec \"$0\" \"$@\""
    let prelude = "set -- -m /bin/sh -c '\(script)' \"$0\" \"$@\"; BASH_ARGV0=/usr/bin/unshare"
    for (directory, what) in [(store, "used"), (store + "/inner", "made")] {
      try fixture.write(
        "tables:\n  - {name: \(fixture.tableName()), capacity: 2MiB, durability: relaxed}\nstore-directory: \(directory)\n"
      )
      let check = try fixture.start(["--check", "--user", "root"], prelude: prelude)
      #expect(try check.wait() == .code(1), "\(check.transcript)")
      #expect(
        check.transcript.contains(
          "\(directory): cannot be \(what): Read-only file system; if only shmd's unit sees it so (ProtectSystem=), name it there: "
            + "ReadWritePaths=\(directory) ('systemctl edit shmd'); "), "\(check.transcript)")
    }
  }

  /// Others need /tmp and /var/lib as they are.
  @Test func nobodyIsToldToChangeADirectoryThatIsNotForStoresAlone() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    func check(_ directory: String) throws -> LoggingProcess {
      try fixture.write(
        "tables:\n  - {name: \(name), capacity: 2MiB, durability: relaxed}\nstore-directory: \(directory)\n")
      return try fixture.check()
    }
    let place = fixture.configurationFile + ":3"
    func cure(_ directory: String) -> String {
      "name a directory for shmd alone by 'store-directory'; this makes one: install -d -m 0700 -o \(geteuid()) \(directory)/shmd"
    }
    let shared = try check("/tmp")
    #expect(try shared.wait() == .code(1))
    #expect(
      shared.lines == [
        "\(place): \(name) cannot be stored: /tmp: can be written by its group or by others (or by an ACL), who could put a store there; "
          + cure("/tmp")
      ])
    // The configuration lies in it.
    try fixture.openToAll()
    let mixed = try check(fixture.directory)
    #expect(try mixed.wait() == .code(0))
    #expect(
      mixed.lines == [
        "\(place): warning: \(fixture.directory) can be read by its group or by others; \(cure(fixture.directory))"
      ])
    // A daemon that began anew elsewhere would make their tables empty.
    let store = fixture.directory + "/settings.sqlite"
    close(open(store, O_CREAT | O_WRONLY, 0o600))
    defer { unlink(store) }
    let holding = try check(fixture.directory)
    #expect(try holding.wait() == .code(0))
    #expect(holding.transcript.contains("; stop shmd and move the stores (*.sqlite*) there"), "\(holding.transcript)")
  }

  /// Root could use what the service's user cannot.
  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to check as another user"))
  func checkingJudgesAsTheServicesUser() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let table = try Table.create(name, Table.Options(capacityBytes: 2 << 20, mode: 0o600))
    try fixture.configure("  - {name: \(name), capacity: 2MiB, mode: \"0600\"}")
    try fixture.openToAll()
    let asRoot = try fixture.check()
    #expect(try asRoot.wait() == .code(0), "\(asRoot.transcript)")
    let check = try fixture.check(as: "nobody")
    #expect(try check.wait() == .code(1), "\(check.transcript)")
    #expect(
      check.lines.first?.hasPrefix(
        "\(fixture.configurationFile):4: table '\(name)': cannot be had: exists, and this daemon may not take part: ")
        == true, "\(check.transcript)")
    let group = try fixture.check(as: "nobody", "  - {name: \(fixture.tableName()), group: 0}")
    #expect(try group.wait() == .code(78), "\(group.transcript)")
    #expect(
      group.transcript.contains(
        "this daemon is no member of group 0 (root), so it cannot give it a table; run: usermod -aG root nobody && systemctl restart shmd"
      ), "\(group.transcript)")
    let unknown = try fixture.check(as: "nobody-at-all")
    #expect(try unknown.wait() == .code(1))
    #expect(unknown.transcript.hasPrefix("--check as user 'nobody-at-all': there is no such user"))
    #expect(unknown.transcript.hasSuffix("for a daemon that you start yourself: --user root"))
    // The file's own mistakes are said first.
    let both = try fixture.check(as: "nobody-at-all", "  - {name: \(name), colour: red}")
    #expect(try both.wait() == .code(78))
    #expect(both.lines.first?.contains("unknown key 'colour'") == true, "\(both.transcript)")
    #expect(both.lines.last?.hasPrefix("--check as user 'nobody-at-all': ") == true, "\(both.transcript)")
    #expect(table.administration.isNamed)
  }

  /// Rights of a table that lives: what the start would refuse, the check refuses too.
  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to check as another user"))
  func checkingRefusesRightsThatTheServicesUserCannotGive() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let group = try #require(getpwnam("nobody")).pointee.pw_gid
    _ = try Table.create(name, Table.Options(capacityBytes: 2 << 20, mode: 0o660, group: group))
    try fixture.openToAll()
    let same = try fixture.check(as: "nobody", "  - {name: \(name), capacity: 2MiB, mode: \"0660\"}")
    #expect(try same.wait() == .code(0), "\(same.transcript)")
    let other = try fixture.check(as: "nobody", "  - {name: \(name), capacity: 2MiB, mode: \"0640\"}")
    #expect(try other.wait() == .code(78), "\(other.transcript)")
    #expect(
      other.lines == [
        "\(fixture.configurationFile):4: table '\(name)': belongs to user 0, so this daemon leaves its mode 0660, and the file says 0640; "
          + "write into the file what it has, or let its owner make it anew as the file says, and run: systemctl reload shmd"
      ])
    let owned = try fixture.check(as: "nobody", "  - {name: \(name), capacity: 2MiB, mode: \"0660\", owner: 1}")
    #expect(try owned.wait() == .code(78), "\(owned.transcript)")
    #expect(owned.transcript.contains("only root may give a table to user 1"))
  }

  @Test func tablesLargerThanSharedMemoryAreWarnedOf() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 4TiB}")
    let check = try fixture.check()
    #expect(try check.wait() == .code(0), "\(check.transcript)")
    #expect(
      check.transcript.hasPrefix(
        "\(fixture.configurationFile):4: table '\(name)': warning: a capacity of 4TiB is more than /dev/shm has ("))
    try fixture.configure("  - {name: \(name), capacity: 4TiB, preallocate: true}")
    let preallocated = try fixture.check()
    #expect(try preallocated.wait() == .code(1), "\(preallocated.transcript)")
    #expect(preallocated.transcript.contains("cannot be had: /dev/shm has room for "))
  }

  /// The daemon tries in each round: claiming all that is free each time, only to find that it is too little, would take it from others. The
  /// limit on the size of files keeps a daemon that does from taking more than 64 MiB.
  @Test func aTableThatAsksForMoreThanIsFreeIsRefusedBeforeItsPagesAreClaimed() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 4TiB, preallocate: true}")
    let daemon = try fixture.start(prelude: "ulimit -f 65536")
    try daemon.waitForLine("ready tables=")
    let said = daemon.transcript
    #expect(said.contains("/dev/shm has room for ") && said.contains(", and 'preallocate' asks for 4TiB"), "\(said)")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  /// Otherwise everybody could say what the daemon does.
  @Test func aConfigurationThatEverybodyMayWriteIsRefused() throws {
    let fixture = try DaemonFixture()
    try fixture.configure("  - {name: \(fixture.tableName()), capacity: 2MiB}")
    try fixture.write("interval: 40ms\n", dropIn: "10-a.yaml")
    let daemon = try fixture.startReady()
    let (main, directory) = (fixture.configurationFile, fixture.directory + "/shmd.d")
    for (path, mode) in [(main, mode_t(0o644)), (directory + "/10-a.yaml", 0o644), (directory, 0o755)] {
      #expect(chmod(path, mode | 0o002) == 0)
      for options in [["--check", "--user", "root"], ["--reload"], []] {
        let run = try fixture.start(options)
        #expect(try run.wait() == .code(78), "\(path) \(options): \(run.transcript)")
        #expect(run.lines.contains("\(path): every user may write to it; run: chmod o-w \(path)"), "\(run.transcript)")
      }
      #expect(chmod(path, mode | 0o020) == 0)
      let fine = try fixture.check()
      #expect(try fine.wait() == .code(0), "\(fine.transcript)")
      #expect(chmod(path, mode) == 0)
    }
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  @Test func dropInsAreReadInTheOrderOfTheirNames() throws {
    let fixture = try DaemonFixture()
    let (main, first, second) = (fixture.tableName(), fixture.tableName(), fixture.tableName())
    try fixture.configure("  - {name: \(main), capacity: 2MiB}")
    try fixture.write("tables: [{name: \(second), capacity: 2MiB}]\ninterval: 40ms\n", dropIn: "20-b.yaml")
    try fixture.write("tables: [{name: \(first), capacity: 2MiB}]\ninterval: 30ms\n", dropIn: "10-a.yaml")
    try fixture.write("this: is not read", dropIn: "30-c.yaml.old")
    try fixture.write("this: is not read", dropIn: ".hidden.yaml")
    try fixture.write("# interval: 1s\n", dropIn: "40-comments.yaml")
    try fixture.write("", dropIn: "50-empty.yaml")
    let daemon = try fixture.startReady()
    #expect(
      daemon.lines.contains { $0.hasSuffix("ready tables=\"\(main) \(first) \(second)\"") }, "\(daemon.transcript)")

    let print = try fixture.start(["--print-config"])
    #expect(try print.wait() == .code(0), "\(print.transcript)")
    let directory = fixture.directory
    #expect(print.lines.contains("interval: 40ms  # \(directory)/shmd.d/20-b.yaml:2"), "\(print.transcript)")
    #expect(print.lines.contains("  - name: \"\(first)\"  # \(directory)/shmd.d/10-a.yaml:1"), "\(print.transcript)")
    #expect(print.lines.contains("    variant: rcu  # default"), "\(print.transcript)")

    // Once only, whichever file: both are named.
    try fixture.write("tables:\n- {name: \(first), capacity: 2MiB}\n", dropIn: "20-b.yaml")
    let check = try fixture.check()
    #expect(try check.wait() == .code(78))
    #expect(
      check.lines == [
        "\(directory)/shmd.d/20-b.yaml:2: table '\(first)' is configured twice, first in "
          + "\(directory)/shmd.d/10-a.yaml:1; remove one"
      ])
  }
}
