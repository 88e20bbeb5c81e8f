import Foundation
import Glibc
import SharedTable
import TestSupport
import Testing

@Suite struct TableListingTests {
  @Test func theListIsOfAllTables() throws {
    let table = try TestTable()
    for words in [["tables", "-t", table.name], ["-t", table.name, "tables", "--long"]] {
      let run = try CommandRun(words)
      #expect(run.status == 2 && run.errors.contains("takes no -t"), "\(run.text)")
    }
  }

  /// The cells of one table's line, all of the columns.
  private func line(_ name: String, _ text: String) throws -> [Substring] {
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
    let cells = try #require(line, "no line of \(name): \(text)").split(separator: " ", maxSplits: 9)
    try #require(cells.count >= 9, "\(cells)")
    return cells
  }

  private func object(_ name: String, _ arguments: [String] = ["--long"]) throws -> [String: Any]? {
    try CommandRun(["tables", "--json"] + arguments).objects.first { $0?["table"] as? String == name } ?? nil
  }

  @Test func longSaysOwnerModeVariantKeysFillAndCapacity() throws {
    let table = try TestTable(Table.Options(variant: .rwlock, capacityBytes: 4 << 20, mode: 0o640))
    try table.open().set("k", String(repeating: "v", count: 1 << 20))
    let run = try CommandRun(["tables", "--long"])
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(run.text.hasPrefix("TABLE "))
    let cells = try line(table.name, run.text)
    let user = unsafe String(cString: getpwuid(geteuid()).pointee.pw_name)
    #expect(cells[1...] == [Substring(user), "0640", "rwlock", "1", "25%", "4MiB", "no", "no"], "\(cells)")
    let object = try #require(try object(table.name))
    #expect(object["state"] as? String == "table" && object["mode"] as? String == "0640")
    #expect(object["owner"] as? UInt32 == geteuid() && object["keys"] as? Int == 1)
    #expect(object["damaged"] as? Bool == false && object["keptByDaemon"] as? Bool == false)
    #expect((object["usedBytes"] as? Int ?? 0) >= 1 << 20)
  }

  @Test func theReasonBeginsWithTheStateOnce() throws {
    let table = try TestTable()
    try table.setHeaderWord(8, 99)
    let reason = try #require(try object(table.name, [])?["reason"] as? String)
    #expect(reason.hasPrefix("incompatible: its layout version is 99"), "\(reason)")
    let lines = try CommandRun(["tables"]).text.split(separator: "\n")
    #expect(lines.contains("\(table.name)\t\(reason)"), "\(lines)")
  }

  private static let mayHideDevShm = (try? CommandRun(shell: "unshare -m true").status) == 0

  /// As in a container without one.
  @Test(.enabled(if: mayHideDevShm, "cannot run: needs root, and the right to a mount namespace, to hide /dev/shm"))
  func aHostWithoutDevShmIsSaid() throws {
    for command in ["tables", "doctor", "bench"] {
      let run = try CommandRun(
        shell: #"unshare -m sh -c 'mount -t tmpfs none /dev && exec "$SHMCTL" $C' </dev/null"#,
        environment: ["C": command, "SHMCTL_CONFIG": "", "XDG_CONFIG_HOME": "/nowhere"])
      #expect(run.status == 11 && run.errors.contains("/dev/shm"), "\(command): \(run.status) \(run.errors)")
      #expect(run.errors.contains("mount a tmpfs there"), "\(command): \(run.errors)")
    }
  }

  @Test func aDamagedTableIsMarked() throws {
    let table = try TestTable()
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: table.controlPath))
    // shm_ctl_header.damaged, behind identity, ready, fingerprint and PID namespace.
    try file.seek(toOffset: 72)
    try file.write(contentsOf: Data([1, 0, 0, 0, 0, 0, 0, 0]))
    #expect(try line(table.name, CommandRun(["tables", "-l"]).text)[7] == "yes")
    #expect(try object(table.name)?["damaged"] as? Bool == true)
  }

  @Test func whatShmdHasOpenIsKeptByIt() throws {
    let table = try TestTable()
    // A process of the daemon's name: that is all that is looked at.
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(getpid())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.appendingPathComponent("shmd").path
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: WorkerProcess.productDirectory + "/table-worker")
    let worker = try WorkerProcess(path, timeoutSeconds: 100)
    try worker.ask("open \(table.name)", expecting: "ok")
    try worker.ask("set k v", expecting: "ok")
    #expect(try line(table.name, CommandRun(["tables", "-l"]).text)[8] == "yes")
    try worker.finish()
    #expect(try line(table.name, CommandRun(["tables", "-l"]).text)[8] == "no")
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func anObserverSeesWhatWasClaimedOnly() throws {
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o644))
    let cells = try line(table.name, try CommandRun(["tables", "-l"], user: stranger).text)
    #expect(cells[5].hasPrefix("≤") && cells[7] == "?" && cells[8] == "?", "\(cells)")
  }

  @Test func halvesAndWhatIsNoTableAreMarked() throws {
    for path in [\TestTable.controlPath, \TestTable.dataPath] {
      let table = try TestTable()
      try FileManager.default.removeItem(atPath: table[keyPath: path])
      let left = path == \TestTable.controlPath ? "data" : "control"
      let lines = try CommandRun(["tables"]).text.split(separator: "\n")
      #expect(lines.contains { $0 == "\(table.name)\torphaned: only the \(left) object is there" })
      #expect(try line(table.name, CommandRun(["tables", "--long"]).text)[3] == "-")
      #expect(try object(table.name)?["state"] as? String == "orphaned")
    }
    let table = try TestTable(isMade: false)
    for path in [table.controlPath, table.dataPath] {
      try Data(repeating: 1, count: 8192).write(to: URL(fileURLWithPath: path))
    }
    #expect(try CommandRun(["tables"]).text.contains("\(table.name)\tno table: "))
    #expect(try object(table.name, [])?["state"] as? String == "noTable")
  }

  @Test func aTableOfAnotherLayoutIsIncompatible() throws {
    let table = try TestTable()
    // shm_identity.layout_hash
    try table.setHeaderWord(16, 1)
    #expect(try CommandRun(["tables"]).text.contains("\(table.name)\tincompatible: "))
    #expect(try object(table.name)?["state"] as? String == "incompatible")
  }
}
