import Foundation
import Glibc
import SharedTable
import TableEngine
import Testing

@testable import shmctl

/// Each exit status by what brings it about.
@Suite struct ExitStatusTests {
  @Test func theNumbersArePromised() {
    #expect(ExitStatus.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 141])
    #expect(ExitStatus(TableError.Code.exists) == .notFound)
    #expect(ExitStatus(TableError.Code.typeMismatch) == .wrongType)
  }

  @Test func helpAndVersionExit0OnStandardOutput() throws {
    for arguments in [["--help"], ["-h"], ["help"], ["get", "--help"], ["help", "get"], ["--version"]] {
      let run = try CommandRun(arguments)
      #expect(run.status == 0, "\(arguments)")
      #expect(!run.output.isEmpty && run.errors == "", "\(arguments)")
    }
    let help = try CommandRun(["--help"]).text
    for status in ExitStatus.allCases { #expect(help.contains(" \(status.rawValue)  \(status.meaning.prefix(20))")) }
  }

  @Test(arguments: [
    "create", "drop", "tables", "get", "set", "del", "exists", "incr", "ls", "count", "stat", "check", "repair", "mget",
    "mset", "type", "ttl", "expire", "persist", "rename", "cas", "append", "getdel", "edit",
  ])
  func everyCommandKnowsTheVersion(command: String) throws {
    let run = try CommandRun([command, "--version"])
    #expect(run.status == 0)
    #expect(run.text == "\(Shmctl.version)\n")
  }

  @Test(arguments: [
    [], ["bogus"], ["get"], ["set", "k"], ["set", "k", "v", "w"], ["get", "--bogus", "k"], ["del"], ["exists"],
    ["incr"],
    ["incr", "k", "x"], ["create"], ["drop"], ["check"], ["repair"], ["repair", "--dry", "x"], ["count", "a", "extra"],
    ["get", "k", "-t"],
    ["set", "k", "v", "--if-version", "x"],
    ["get", "k", "--timeout", "soon"], ["get", ""], ["set", "", "v"],
  ])
  func usageErrorsExit2WithOneLineOnStandardError(arguments: [String]) throws {
    let table = try TestTable()
    let run = try CommandRun(arguments, environment: ["SHM_TABLE": table.name])
    #expect(run.status == 2)
    #expect(run.output.isEmpty)
    #expect(run.errors.hasPrefix("shmctl: ") && run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    #expect(run.errors.contains("; "))
  }

  @Test(arguments: [
    ["get", "k"], ["set", "k", "v"], ["del", "k"], ["exists", "k"], ["incr", "k"], ["ls"], ["count"], ["stat"],
  ])
  func aTableThatIsNotThereExits3(arguments: [String]) throws {
    let table = try TestTable(isMade: false)
    let run = try CommandRun(["-t", table.name] + arguments)
    #expect(run.status == 3)
    #expect(run.output.isEmpty)
    #expect(run.errors.hasPrefix("shmctl: table '\(table.name)': no such table; create it with"))
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func whoMayNotReadATableExits4() throws {
    let table = try TestTable()
    for arguments in [["get", "k"], ["set", "k", "v"], ["ls"], ["stat"]] {
      let run = try CommandRun(["-t", table.name] + arguments, user: stranger)
      #expect(run.status == 4)
      #expect(run.errors.hasPrefix("shmctl: table '\(table.name)': not permitted: "))
      #expect(run.errors.contains("; "))
    }
    #expect(try CommandRun(["drop", table.name], user: stranger).status == 4)
    #expect(table.exists)
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func whoMayOnlyReadATableReadsAndDoesNotWrite() throws {
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o644))
    try table.open().set("k", "v")
    #expect(try table.run("get", "k", user: stranger).text == "v")
    #expect(try table.run("ls", user: stranger).text == "k\n")
    #expect(try table.run("count", user: stranger).text == "1\n")
    #expect(try table.run("stat", user: stranger).text.contains("observer"))
    #expect(try table.run("set", "k", "w", user: stranger).status == 4)
    #expect(try table.run("del", "k", user: stranger).status == 4)
    #expect(try table.open().get("k", as: String.self) == "v")
  }

  @Test func aTableWithoutRoomExits5AndKeepsWhatItHas() throws {
    let table = try TestTable(Table.Options(capacityBytes: 1 << 20))
    let value = [UInt8](repeating: 7, count: 200_000)
    var statuses: [Int32] = []
    for index in 0..<8 {
      let run = try table.run("set", "k\(index)", "-", input: value)
      statuses.append(run.status)
      if run.status != 0 { #expect(run.errors.contains(": full: ") && run.errors.contains("; ")) }
    }
    #expect(statuses.first == 0)
    #expect(statuses.last == 5)
    #expect(Swift.Set(statuses) == [0, 5])
    #expect(try table.run("get", "k0").output == value)
  }

  @Test func keysAndValuesTooLargeExit6() throws {
    let table = try TestTable()
    #expect(try table.run("get", String(repeating: "k", count: 65_537)).status == 6)
    #expect(try table.run("set", String(repeating: "k", count: 65_537), "v").status == 6)
    #expect(try table.run("set", String(repeating: "k", count: 65_536), "v").status == 0)
    let run = try table.run("set", "k", "-", input: [UInt8](repeating: 1, count: (1 << 20) + 1))
    #expect(run.status == 6)
    #expect(run.errors.contains("; "))
  }

  @Test(arguments: [Table.Variant.rcu, .rwlock])
  func aWriterThatStaysExits7NamingIt(variant: Table.Variant) throws {
    let table = try TestTable(Table.Options(variant: variant, capacityBytes: 4 << 20))
    let handle = try table.open()
    try handle.set("k", "v")
    try handle.barrier { _ in
      let run = try table.run("set", "k", "w", "--timeout", "50ms")
      #expect(run.status == 7)
      #expect(run.errors.contains("timed out") && run.errors.contains("pid \(getpid())"))
      // Readers of the RCU variant wait for nobody.
      #expect(try table.run("get", "k", "--timeout", "50ms").status == (variant == .rcu ? 0 : 7))
    }
    #expect(try table.run("set", "k", "w").status == 0)
  }

  @Test func anotherLayoutVersionExits8() throws {
    let table = try TestTable()
    try table.setHeaderWord(DataLayout.versionAndVariant, UInt64(DataLayout.version + 1) | 1 << 32)
    let run = try table.run("get", "k")
    #expect(run.status == 8)
    #expect(run.errors.contains("layout version is \(DataLayout.version + 1)"))
    let advice = [
      "dump -t \(table.name) -o \(table.name).dump' with the release",
      "drop \(table.name)'; unless shmd makes it anew 'shmctl create \(table.name)'",
    ]
    #expect(advice.allSatisfy { run.errors.contains("'shmctl \($0)") }, "\(run.errors)")
    #expect(try table.run("set", "k", "v").status == 8)
    #expect(try CommandRun(["drop", table.name]).status == 0)
  }

  @Test func somethingElseUnderTheNameExits8AndStays() throws {
    let manager = FileManager.default
    for make in [
      { (path: String) in try Data("plain text\n".utf8).write(to: URL(fileURLWithPath: path)) },
      { (path: String) in try Data(repeating: 0x20, count: 10_000).write(to: URL(fileURLWithPath: path)) },
      { (path: String) in try manager.createDirectory(atPath: path, withIntermediateDirectories: false) },
      { (path: String) in if unsafe mkfifo(path, 0o600) != 0 { throw CocoaError(.fileWriteUnknown) } },
    ] {
      let table = try TestTable(isMade: false)
      try make(table.controlPath)
      try make(table.dataPath)
      for arguments in [["get", "k"], ["set", "k", "v"], ["stat"]] {
        let run = try CommandRun(["-t", table.name, "--timeout", "100ms"] + arguments)
        #expect(run.status == 8, "\(arguments): \(run.errors)")
        #expect(run.errors.hasPrefix("shmctl: table '\(table.name)': not a table: "))
      }
      #expect(try CommandRun(["create", table.name]).status == 1)
      #expect(manager.fileExists(atPath: table.dataPath) && manager.fileExists(atPath: table.controlPath))
    }
  }

  @Test func anObjectThatIsTooShortIsAnErrorAndNeverACrash() throws {
    for (length, status) in [(0, Int32(8)), (100, 8), (4096, 9), (8192, 9)] {
      for path in [\TestTable.controlPath, \TestTable.dataPath] {
        // Made by the command: a process that had it open would be killed by SIGBUS, which nobody can prevent.
        let table = try TestTable(isMade: false)
        try CommandRun(["create", table.name, "--capacity", "4MiB"])
        try table.run("set", "k", "v")
        #expect(unsafe truncate(table[keyPath: path], length) == 0)
        for arguments in [["get", "k"], ["set", "k", "v"], ["stat"]] {
          let run = try CommandRun(["-t", table.name, "--timeout", "100ms"] + arguments)
          #expect(run.status == status, "\(path) \(length) \(arguments): \(run.errors)")
        }
      }
    }
  }

  @Test func contentsThatContradictThemselvesExit9() throws {
    let table = try TestTable()
    try table.setHeaderWord(DataLayout.capacity, 12345)
    let run = try table.run("get", "k")
    #expect(run.status == 9)
    #expect(run.errors.hasPrefix("shmctl: table '\(table.name)': damaged: "))
    #expect(run.errors.contains("'shmctl drop \(table.name)'"))
    #expect(try CommandRun(["drop", table.name]).status == 0)
  }
}
