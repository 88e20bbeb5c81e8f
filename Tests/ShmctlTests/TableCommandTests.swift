import Foundation
import Glibc
import SharedTable
import Testing

@Suite struct TableCommandTests {
  @Test func helpSpellsValuesAndDefaultsAsTheyAreTyped() throws {
    let help = try CommandRun(["create", "--help"]).text
    #expect(!help.contains("(default: 0)") && help.contains("evict if not given") && help.contains("rcu if not given"))
    for command in ["create", "copy", "resize"] {
      let lines = try CommandRun([command, "--help"]).text.split(separator: "\n").map {
        $0.drop { $0 == " " }.split(separator: " ", omittingEmptySubsequences: true)
      }
      for value in command == "create" ? ["rcu", "rwlock", "evict", "wait", "refuse"] : ["rcu", "rwlock"] {
        #expect(lines.contains { $0.count > 2 && $0[0] == value && $0[1] == "-" }, "\(command): \(value)")
      }
    }
  }

  private func attributes(_ path: String) throws -> (mode: Int?, group: Int?) {
    let all = try FileManager.default.attributesOfItem(atPath: path)
    return ((all[.posixPermissions] as? NSNumber)?.intValue, (all[.groupOwnerAccountID] as? NSNumber)?.intValue)
  }

  @Test func createMakesAnRCUTableOfMode0600UnlessSaidOtherwise() throws {
    let table = try TestTable(isMade: false)
    let run = try CommandRun(["create", table.name])
    #expect(run.status == 0)
    #expect(run.output.isEmpty)
    let handle = try table.open()
    #expect(handle.variant == .rcu)
    #expect(handle.capacityBytes == 64 << 20)
    #expect(try attributes(table.dataPath).mode == 0o600)
    #expect(try attributes(table.controlPath).mode == 0o600)
  }

  @Test func createTakesVariantCapacityModeAndGroup() throws {
    let table = try TestTable(isMade: false)
    let run = try CommandRun([
      "create", table.name, "--sync", "rwlock", "--capacity", "3MiB", "--mode", "640", "--group", "\(getegid())",
    ])
    #expect(run.status == 0)
    let handle = try table.open()
    #expect(handle.variant == .rwlock)
    #expect(handle.capacityBytes == 3 << 20)
    #expect(try attributes(table.dataPath).mode == 0o640)
    #expect(try attributes(table.dataPath).group == Int(getegid()))
  }

  @Test func preallocateClaimsTheMemoryOfAllValues() throws {
    for (arguments, isAll) in [([], false), (["--preallocate"], true)] {
      let table = try TestTable(isMade: false)
      #expect(try CommandRun(["create", table.name, "--capacity", "8MiB"] + arguments).status == 0)
      #expect(try (table.open().statistics.claimedBytes >= 8 << 20) == isAll)
    }
  }

  @Test func theGroupMayBeNamed() throws {
    let table = try TestTable(isMade: false)
    let name = unsafe getgrgid(getegid()).map { unsafe String(cString: $0.pointee.gr_name) }
    #expect(try CommandRun(["create", table.name, "--group", try #require(name)]).status == 0)
    #expect(try attributes(table.dataPath).group == Int(getegid()))
    let unknown = try CommandRun(["create", "\(table.name)-2", "--group", "no-such-group"])
    #expect(unknown.status == 2)
    #expect(unknown.errors.contains("there is no group 'no-such-group'; "))
  }

  @Test func createOfATableThatExistsExits1() throws {
    let table = try TestTable()
    try table.open().set("k", "v")
    let run = try CommandRun(["create", table.name])
    #expect(run.status == 1)
    #expect(run.errors.hasPrefix("shmctl: table '\(table.name)': exists already; "))
    let quiet = try CommandRun(["create", "-q", table.name])
    #expect(quiet.status == 1 && quiet.errors.isEmpty)
    // Also where there is no room for another: a script asks again for the one that has taken it.
    let large = try CommandRun(["create", table.name, "--capacity", "4TiB"])
    #expect(large.status == 1 && large.errors.contains("exists already; "), "\(large.errors)")
    #expect(try table.run("get", "k").text == "v")
  }

  @Test func createIfAbsentTakesWhatIsThere() throws {
    let table = try TestTable()
    try table.open().set("k", "v")
    let run = try CommandRun(["create", table.name, "--if-absent", "--capacity", "64MiB", "--json"])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    #expect(run.objects.first??["capacityBytes"] as? Int == (try table.open().capacityBytes))
    #expect(try table.run("get", "k").text == "v")
    let other = try TestTable(isMade: false)
    #expect(try CommandRun(["create", other.name, "--if-absent", "--capacity", "2MiB"]).status == 0)
    #expect(try other.open().capacityBytes == 2 << 20)
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be a user without rights"))
  func whoHasNoRightIsToldHowAGroupGetsOne() throws {
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o600))
    let run = try table.run("get", "k", user: stranger)
    #expect(run.status == 4 && run.errors.contains("'shmctl create --mode 660 --group GROUP'"), "\(run.errors)")
  }

  @Test func aCapacityInMillionsIsToldFromMebibytes() throws {
    let table = try TestTable(isMade: false)
    let run = try CommandRun(["create", table.name, "--capacity", "1MB"])
    #expect(run.status == 2 && run.errors.contains("; 1MB is 1000000 bytes, 1MiB 1048576; see 'shmctl create --help'"))
  }

  @Test(arguments: [
    ["--capacity", "1000"], ["--capacity", "0"], ["--capacity", "big"], ["--capacity", "64XiB"],
    ["--capacity", "99999999999TiB"], ["--sync", "mutex"], ["--mode", "999"], ["--mode", "777"], ["--mode", "0606"],
    ["--mode", ""], ["--group", "no-such-group"], ["-t", "other"],
  ])
  func createWithAnOptionThatCannotBeIsAUsageError(options: [String]) throws {
    let table = try TestTable(isMade: false)
    let run = try CommandRun(["create", table.name] + options)
    #expect(run.status == 2)
    #expect(run.output.isEmpty)
    #expect(run.errors.hasPrefix("shmctl: ") && run.errors.split(separator: "\n").count == 1)
    #expect(!table.exists)
  }

  @Test func aCapacityThatTheFileSystemHasNoRoomForIsFull() throws {
    let table = try TestTable(isMade: false)
    try #require(try Table.freeBytes() != nil)
    let run = try CommandRun(["create", table.name, "--capacity", "4TiB"])
    #expect(run.status == 5)
    #expect(run.errors.contains("/dev/shm has room for"))
    #expect(!table.exists)
  }

  @Test(arguments: ["a/b", "../x", "/", "", ".hidden", "with space", String(repeating: "n", count: 300)])
  func aNameThatCannotBeIsAUsageError(name: String) throws {
    for arguments in [["create", name], ["drop", name], ["-t", name, "get", "k"], ["-t", name, "set", "k", "v"]] {
      let run = try CommandRun(arguments)
      #expect(run.status == 2, "\(arguments)")
      #expect(run.errors.hasPrefix("shmctl: table '"))
    }
  }

  @Test func dropRemovesATableAndSaysWhenThereIsNone() throws {
    let table = try TestTable()
    #expect(try CommandRun(["drop", table.name]).status == 0)
    #expect(!table.exists)
    let run = try CommandRun(["drop", table.name])
    #expect(run.status == 3)
    #expect(run.errors == "shmctl: table '\(table.name)': no such table; 'shmctl tables' lists them\n")
  }

  @Test func dropRemovesATableOfWhichOneObjectIsLeft() throws {
    for path in [\TestTable.controlPath, \TestTable.dataPath] {
      let table = try TestTable()
      try FileManager.default.removeItem(atPath: table[keyPath: path])
      #expect(try CommandRun(["drop", table.name]).status == 0)
      #expect(try CommandRun(["drop", table.name]).status == 3)
    }
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func dropByWhoMayWriteButNotRemoveATableLeavesItWhole() throws {
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o660, group: stranger))
    #expect(try table.run("set", "k", "v", user: stranger).status == 0)
    let run = try CommandRun(["drop", table.name], user: stranger)
    #expect(run.status == 4)
    #expect(run.errors.contains("; "))
    #expect(try table.run("set", "k", "w", user: stranger).status == 0)
    #expect(try table.run("get", "k").text == "w")
  }

  @Test func dropRemovesAFileInATablesPlaceButNoDirectory() throws {
    let manager = FileManager.default
    let file = try TestTable(isMade: false)
    for path in [file.controlPath, file.dataPath] { try Data("text".utf8).write(to: URL(fileURLWithPath: path)) }
    #expect(try CommandRun(["drop", file.name]).status == 0)
    #expect(!file.exists && !manager.fileExists(atPath: file.controlPath))
    let directory = try TestTable(isMade: false)
    for path in [directory.controlPath, directory.dataPath] {
      try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
    }
    let run = try CommandRun(["drop", directory.name])
    #expect(run.status == 8)
    #expect(run.errors.contains("not a table: "))
    #expect(directory.exists)
  }

  @Test func tablesListsTheTables() throws {
    let table = try TestTable()
    let lines = try CommandRun(["tables"]).text.split(separator: "\n").map(String.init)
    #expect(lines.contains(table.name))
    #expect(lines == lines.sorted())
    #expect(try CommandRun(["tables", "--json"]).objects.contains { $0?["table"] as? String == table.name })
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to make another user's tables"))
  func whatAStrangerHasIsSaidWithItsOwnerAndExits12() throws {
    let owner = try #require(stranger)
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o644, owner: owner))
    let observed = try Table.open(table.name, access: .participant, trusting: [owner])
    try observed.set("k", "v")
    for arguments in [["get", "k"], ["set", "k", "w"], ["ls"]] {
      let run = try CommandRun(["-t", table.name] + arguments)
      #expect(run.status == 12 && run.output.isEmpty, "\(arguments)")
      #expect(run.errors.contains("uid \(owner)") && run.errors.contains("--trust"), "\(run.errors)")
    }
    for command in ["create", "check", "repair", "drop"] {
      #expect(try CommandRun([command, table.name]).status == 12, "\(command)")
    }
    #expect(try table.run("get", "k", "--trusting", "everyone").text == "v")
    #expect(try table.run("set", "k", "w", "--trusting", "everyone").status == 4)
    #expect(try table.run("set", "k", "w", "--trusting", "\(owner)").status == 0)
    #expect(try table.run("get", "k", user: owner).text == "w")
    for wrong in [["--trusting", "no-such-user"], ["--trusting", "everyone", "--trusting", "0"]] {
      #expect(try CommandRun(["-t", table.name, "get", "k"] + wrong).status == 2)
    }
    #expect(try CommandRun(["drop", table.name, "--trusting", "\(owner)"]).status == 0)
    #expect(!table.exists)
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to make another user's objects"))
  func tablesAndStatShowWhoseANameIs() throws {
    let owner = try #require(stranger)
    for path in [\TestTable.controlPath, \TestTable.dataPath] {
      let table = try TestTable(isMade: false)
      try Data().write(to: URL(fileURLWithPath: table[keyPath: path]))
      #expect(unsafe chown(table[keyPath: path], owner, owner) == 0)
      let own = try TestTable()
      let lines = try CommandRun(["tables"]).text.split(separator: "\n").map(String.init)
      #expect(lines.contains("\(table.name)\tforeign: uid \(owner)") && lines.contains(own.name))
      let object = try CommandRun(["tables", "--json"]).objects.first { $0?["table"] as? String == table.name }
      #expect(object??["foreign"] as? Bool == true && object??["owner"] as? UInt32 == owner)
      let stat = try table.run("stat")
      #expect(stat.status == 0 && stat.errors.isEmpty)
      #expect(stat.text.contains("foreign     yes\nowner       uid \(owner)\n"))
      #expect(try table.run("stat", "--json").objects.first??["owner"] as? UInt32 == owner)
      // Told to trust whoever it is, it says what lies there.
      #expect(try table.run("stat", "--trusting", "everyone").status != 0)
      #expect(try CommandRun(["tables", "--trusting", "everyone"]).text.contains("\(table.name)\torphaned: "))
    }
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func createWarnsALoginUserOfRemoveIPCOnOneLine() throws {
    let table = try TestTable(isMade: false)
    let run = try CommandRun(["create", table.name], user: stranger)
    #expect(run.status == 0)
    #expect(run.output.isEmpty)
    #expect(run.errors.hasPrefix("shmctl: table '\(table.name)': warning: "))
    #expect(run.errors.contains("RemoveIPC") && run.errors.contains("loginctl enable-linger"))
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func createDoesNotWarnRootOrASystemUser() throws {
    let table = try TestTable(isMade: false)
    #expect(try CommandRun(["create", table.name]).errors == "")
    let other = try TestTable(isMade: false)
    #expect(try CommandRun(["create", other.name], user: 999).errors == "")
    #expect(table.exists && other.exists)
  }

  @Test func statShowsFiguresToPeopleAndPrograms() throws {
    let table = try TestTable()
    try table.open().set("k", "v")
    let text = try table.run("stat").text
    for name in ["version", "keys", "capacity", "allocated", "used", "limbo", "recoveries", "writer", "readers"] {
      #expect(text.contains("\n\(name) "), "\(name)")
    }
    let object = try #require(try table.run("stat", "--json").objects.first ?? nil)
    #expect(object["table"] as? String == table.name)
    #expect(object["variant"] as? String == "rcu")
    #expect(object["keys"] as? Int == 1)
    #expect(object["capacityBytes"] as? Int == 4 << 20)
    #expect(object["damaged"] as? Bool == false)
    #expect(object["writer"] is NSNull)
    for name in ["version", "claimedBytes", "usedBytes", "limboBytes", "limboBudgetBytes", "recoveries"] {
      #expect(object[name] is NSNumber, "\(name)")
    }
  }

  @Test func statNamesReadersWithTheirLagAndTheWriter() throws {
    let table = try TestTable()
    let handle = try table.open()
    let snapshot = try handle.snapshot()
    for value in 1...3 { try handle.set("k", value) }
    let object = try handle.barrier { _ in try table.run("stat", "--json").objects.first ?? nil }
    let readers = try #require(object?["readers"] as? [[String: Any]])
    let reader = try #require(readers.first { $0["snapshot"] as? Bool == true })
    #expect(reader["pid"] as? Int32 == getpid())
    #expect(reader["command"] is String)
    #expect((reader["lag"] as? Int ?? 0) >= 3)
    #expect((object?["writer"] as? [String: Any])?["pid"] as? Int32 == getpid())
    let text = try handle.barrier { _ in try table.run("stat").text }
    #expect(text.contains("snapshot at version \(snapshot.version), ") && text.contains("pid \(getpid())"))
  }

  @Test func statNamesTheQueueWhoseBarrierRuns() throws {
    let table = try TestTable()
    let handle = try table.open()
    let long = "org.example." + String(repeating: "l", count: 188)
    for label in ["org.example.sessions", long, "org.example.b"] {
      let queue = try BarrierQueue(in: handle, label: label)
      let (object, text) = try queue.sync(flags: .barrier) { _ in
        (try table.run("stat", "--json").objects.first ?? nil, try table.run("stat").text)
      }
      #expect((object?["writer"] as? [String: Any])?["queue"] as? String == label)
      #expect(text.contains("in a barrier of queue '\(label)'"))
    }
    // A barrier of no queue, after one of a queue.
    let object = try handle.barrier { _ in try table.run("stat", "--json").objects.first ?? nil }
    let writer = try #require(object?["writer"] as? [String: Any])
    #expect(writer["pid"] as? Int32 == getpid())
    #expect(writer["queue"] == nil)
  }

  @Test func statNamesWhoRunsABarrierOfSomeKeys() throws {
    let table = try TestTable()
    let handle = try table.open()
    let (object, text) = try handle.barrier(keys: ["k"]) { _ in
      (try table.run("stat", "--json").objects.first ?? nil, try table.run("stat").text)
    }
    let readers = try #require(object?["readers"] as? [[String: Any]])
    #expect(readers.contains { $0["pid"] as? Int32 == getpid() && $0["holdsKeyLocks"] as? Bool == true })
    #expect(object?["writer"] is NSNull)
    #expect(text.contains("in a barrier of some keys"))
    #expect(!(try table.run("stat").text.contains("in a barrier of some keys")))
  }

  @Test func statNamesWhoIsInTheWayForHowLongAndAtWhatCost() throws {
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, stalledReaderPolicy: .refuse))
    let handle = try table.open()
    for index in 0..<400 { try handle.set("k\(index)", [UInt8](repeating: 1, count: 1000)) }
    let snapshot = try handle.snapshot()
    for index in 0..<400 { try handle.set("k\(index)", [UInt8](repeating: 2, count: 1000)) }
    let object = try #require(try table.run("stat", "--json").objects.first ?? nil)
    let readers = try #require(object["readers"] as? [[String: Any]])
    let reader = try #require(readers.first { $0["snapshot"] as? Bool == true })
    #expect(reader["pid"] as? Int32 == getpid())
    #expect(reader["version"] as? UInt64 == snapshot.version)
    #expect(reader["inTheWayMilliseconds"] is NSNumber)
    let kept = reader["keptBytes"] as? Int ?? 0
    #expect(kept >= 400_000 && kept <= object["limboBytes"] as? Int ?? 0)
    // Others cost nothing, and nothing is said of when they began to.
    let idle = readers.filter { $0["snapshot"] as? Bool == false }
    #expect(idle.allSatisfy { $0["keptBytes"] as? Int == 0 && $0["inTheWayMilliseconds"] == nil })
    let line = try #require(try table.run("stat").text.split(separator: "\n").first { $0.contains(": snapshot at") })
    #expect(line.contains("pid \(getpid())") && line.contains(", in the way for ") && line.contains(", keeps "))
    withExtendedLifetime(snapshot) {}
  }

  @Test(arguments: Table.StalledReaderPolicy.allCases)
  func createSetsWhatHappensToStalledReaders(_ policy: Table.StalledReaderPolicy) throws {
    let table = try TestTable(isMade: false)
    let made = try CommandRun([
      "create", table.name, "--capacity", "4MiB", "--stalled-reader", "\(policy)", "--limbo-budget", "128KiB",
    ])
    #expect(made.status == 0)
    #expect(
      try table.open().administration.limits() == Table.Limits(limboBudgetBytes: 128 << 10, stalledReaderPolicy: policy)
    )
  }

  /// There every user that the namespace does not map has one number, and the process may have it itself.
  @Test(.enabled(if: stranger != nil, "cannot run: needs root to make another user's objects"))
  func inAUserNamespaceAnUnmappedUsersTableIsNotOnesOwn() throws {
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o644))
    try table.open().set("k", "v")
    for path in [table.controlPath, table.dataPath] { #expect(unsafe chown(path, stranger ?? 0, 0) == 0) }
    let shell = "setpriv --reuid=65533 --clear-groups unshare --user --map-user=65534"
    let refused = try CommandRun(shell: "\(shell) \"$SHMCTL\" -t \"$T\" get k", environment: ["T": table.name])
    #expect(refused.status == 12 && refused.errors.contains("foreign"), "\(refused.status) \(refused.errors)")
    // The kernel knows the process's own.
    for path in [table.controlPath, table.dataPath] { #expect(unsafe chown(path, 65_533, 0) == 0) }
    let own = try CommandRun(shell: "\(shell) \"$SHMCTL\" -t \"$T\" get k", environment: ["T": table.name])
    #expect(own.text == "v", "\(own.status) \(own.errors)")
    for path in [table.controlPath, table.dataPath] { #expect(unsafe chown(path, stranger ?? 0, 0) == 0) }
    // Told that a table of that number counts, it reads.
    let trusting = try CommandRun(
      shell: "\(shell) \"$SHMCTL\" --trust 65534 -t \"$T\" get k", environment: ["T": table.name])
    #expect(trusting.text == "v", "\(trusting.status) \(trusting.errors)")
  }
}
