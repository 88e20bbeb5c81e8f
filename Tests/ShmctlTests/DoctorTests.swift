import Foundation
import Glibc
import SharedTable
import TableEngine
import TestSupport
import Testing

@testable import shmctl

@Suite struct DoctorTests {
  private func findings(_ table: TestTable, _ options: [String] = [], status: Int32 = 9) throws -> [[String: Any]] {
    let run = try CommandRun(["doctor", table.name, "--json"] + options)
    #expect(run.status == status, "\(run.text)\(run.errors)")
    return run.objects.compactMap { $0 }
  }

  private func worker(_ table: TestTable) throws -> WorkerProcess {
    let worker = try WorkerProcess("table-worker", timeoutSeconds: 100)
    try worker.ask("open \(table.name)", expecting: "ok")
    return worker
  }

  @Test func aSoundTableExits0() throws {
    let table = try TestTable()
    try table.open().set("k", "v")
    let run = try CommandRun(["doctor", table.name])
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(run.text == "nothing found; tables looked at: 1\n")
    #expect(try CommandRun(["doctor", table.name, "-q"]).text.isEmpty)
    #expect(try CommandRun(["doctor", table.name + "-none"]).status == 3)
    #expect(try CommandRun(["doctor", "-t", table.name]).status == 2)
  }

  @Test func aControlObjectAloneIsFoundAndFixed() throws {
    let table = try TestTable()
    try FileManager.default.removeItem(atPath: table.dataPath)
    #expect(try findings(table).map { $0["check"] as? String } == ["orphaned"])
    let text = try CommandRun(["doctor", table.name])
    #expect(text.text.contains("\n  cure: shmctl drop \(table.name)\n"))
    #expect(try findings(table, ["--fix"], status: 0).first?["fixed"] as? Bool == true)
    #expect(try CommandRun(["doctor", table.name]).status == 3)
  }

  /// It holds all values.
  @Test func aDataObjectAloneIsFoundAndKept() throws {
    let table = try TestTable()
    try table.open().set("k", "stays")
    try FileManager.default.removeItem(atPath: table.controlPath)
    let finding = try #require(try findings(table, ["--fix"]).first)
    #expect(finding["check"] as? String == "orphaned" && finding["fixed"] as? Bool == false)
    #expect(try !Table.dropHalf(table.name))
    #expect(try Table.open(table.name, access: .observer).get("k", as: String.self) == "stays")
    let text = try CommandRun(["doctor", table.name]).text
    #expect(text.contains("\n  cure: shmctl drop \(table.name)    # removes the values, too\n"), "\(text)")
  }

  @Test func aTableInTheMakingIsLeftAlone() throws {
    let table = try TestTable()
    try FileManager.default.removeItem(atPath: table.dataPath)
    // Who makes a table holds this lock.
    let descriptor = unsafe open(table.controlPath, O_RDWR)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    #expect(try findings(table, ["--fix"]).first?["fixed"] as? Bool == false)
    #expect(FileManager.default.fileExists(atPath: table.controlPath))
  }

  @Test func dropHalfNeverRemovesAWholeTable() throws {
    let table = try TestTable()
    #expect(try !Table.dropHalf(table.name))
    #expect(try table.run("count").status == 0)
    #expect(try !Table.dropHalf(table.name + "-none"))
  }

  @Test func incompatibleNamesAreFound() throws {
    let other = try TestTable()
    try other.setHeaderWord(16, 1)
    let found = try findings(other)
    #expect(found.map { $0["check"] as? String } == ["versionSkew"])
    #expect(
      (found.first?["cure"] as? String)?.contains("unless shmd makes it anew 'shmctl create \(other.name)'") == true)
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func aStrangersTableIsFoundAndNotMended() throws {
    let stranger = try #require(stranger)
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o644, owner: stranger))
    let finding = try #require(try findings(table, ["--fix"]).first)
    #expect(finding["check"] as? String == "foreign" && finding["fixed"] as? Bool == false)
    #expect((finding["what"] as? String)?.contains("uid \(stranger)") == true)
    #expect((finding["cure"] as? String)?.hasPrefix("shmctl drop --trust everyone \(table.name) ") == true)
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be a user without rights"))
  func aTableThatCannotBeLookedAtIsNotCalledSound() throws {
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o600))
    let run = try CommandRun(["doctor", table.name], user: stranger)
    #expect(run.status == 4 && run.text.isEmpty && run.errors.contains("not permitted"), "\(run.text)\(run.errors)")
    let seen = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o644))
    let other = try CommandRun(["doctor", seen.name], user: stranger)
    #expect(other.status == 4 && other.text.isEmpty && other.errors.contains("run it as root"), "\(other.errors)")
  }

  @Test func aDeadWritersWorkIsFoundAndUndone() throws {
    let table = try TestTable()
    let worker = try worker(table)
    try worker.ask("barrier", expecting: "in")
    try worker.ask("set k v", expecting: "ok")
    try worker.killAndWait()
    #expect(try findings(table).map { $0["check"] as? String } == ["deadWriter"])
    let recoveries = try table.open().statistics.recoveries
    let fixed = try findings(table, ["--fix"], status: 0)
    #expect(fixed.map { $0["check"] as? String } == ["deadWriter"] && fixed[0]["fixed"] as? Bool == true)
    #expect(try findings(table, status: 0).isEmpty)
    #expect(try table.open().statistics.recoveries == recoveries.map { $0 + 1 })
  }

  /// Then no write puts anything right.
  @Test func aDeadWriterWhoseWorkCannotBeUndoneIsDamageAlone() throws {
    let table = try TestTable()
    let worker = try worker(table)
    try worker.ask("barrier", expecting: "in")
    try worker.ask("set k v", expecting: "ok")
    try worker.killAndWait()
    let opened = try table.open()
    #expect(opened.statistics.needsRecovery)
    // How many records the journal has: the second word of its header.
    try table.setControlWord(ControlLayout.journal + 8, 1 << 40)
    #expect(#expect(throws: TableError.self) { try opened.set("k", "w") }?.code == .damaged)
    #expect(opened.statistics.isDamaged && !opened.statistics.needsRecovery)
    #expect(try findings(table).map { $0["check"] as? String } == ["damaged"])
  }

  /// The kernel takes back what the slots of its threads held; the slots are as they were.
  @Test func aReaderThatHasEndedIsNoFinding() throws {
    let table = try TestTable()
    for isKilled in [false, true] {
      let worker = try worker(table)
      _ = try worker.ask("get k")
      if isKilled { try worker.killAndWait() } else { try worker.finish() }
      let run = try CommandRun(["doctor", table.name])
      #expect(run.status == 0 && run.text == "nothing found; tables looked at: 1\n", "\(run.text)")
    }
  }

  @Test func aStoppedHolderIsFoundWithItsCure() throws {
    let table = try TestTable()
    let worker = try worker(table)
    try worker.ask("barrier", expecting: "in")
    worker.kill(SIGSTOP)
    defer { worker.kill(SIGCONT) }
    let isFound = try eventually {
      try CommandRun(["doctor", table.name]).text.contains("\n  cure: kill -CONT \(worker.pid)\n")
    }
    #expect(isFound)
  }

  @Test func aReaderThatKeepsMoreThanHalfTheBudgetIsFound() throws {
    let table = try TestTable(
      Table.Options(capacityBytes: 4 << 20, limboBudgetBytes: 256 << 10, stalledReaderPolicy: .refuse))
    let handle = try table.open()
    let long = String(repeating: "v", count: 4000)
    for index in 0..<50 { try handle.set("k\(index)", long) }
    let worker = try worker(table)
    _ = try worker.ask("snapshot")
    for index in 0..<50 { try handle.set("k\(index)", "w") }
    try handle.administration.maintain()
    try handle.set("k", "v")
    try handle.administration.maintain()
    // Once it has been in the way for long enough.
    let isFound = try eventually { try CommandRun(["doctor", table.name]).status == 9 }
    #expect(isFound)
    let finding = try #require(try findings(table).first)
    #expect(finding["check"] as? String == "stalledReader")
    #expect((finding["cure"] as? String)?.hasPrefix("kill \(worker.pid) ") == true)
  }

  /// Who attaches checks the control object, who repairs as well: `shmctl repair` would say so for ever.
  @Test func theCureOfATableThatCannotBeOpenedIsToDropIt() throws {
    let table = try TestTable()
    try table.open().set("k", "v")
    try table.setControlWord(ControlLayout.journal + 8, 1 << 40)
    let finding = try #require(try findings(table).first { $0["check"] as? String == "damaged" })
    #expect((finding["what"] as? String)?.contains("cannot be opened any more") == true, "\(finding)")
    let cure = try #require(finding["cure"] as? String)
    let run = try CommandRun(shell: cure.replacing("shmctl", with: "\"$SHMCTL\""))
    #expect(run.status == 0, "\(run.errors)")
    #expect(#expect(throws: TableError.self) { try table.open() }?.code == .noSuchTable)
  }

  /// What the doctor prints is carried out, word for word.
  @Test(arguments: [nil, UInt64(0), 7]) func theCureOfADamagedTableHelps(durable: UInt64?) throws {
    let table = try TestTable()
    let handle = try table.open()
    for index in 0..<100 { try handle.set("k\(index)", index) }
    if let durable {
      try handle.segment.setKeeping(.kept)
      try handle.segment.publishDurable(durable)
    }
    try handle.loseWords()
    try table.setControlWord(ControlLayout.damaged, 1)
    let finding = try #require(try findings(table).first { $0["check"] as? String == "damaged" })
    let cure = try #require(finding["cure"] as? String)
    // A store that has never had it holds another table's contents, or nothing.
    if let durable, durable > 0 {
      #expect(cure == "shmctl drop \(table.name)    # shmd brings it back from its store")
    } else {
      let run = try CommandRun(shell: cure.replacing("shmctl", with: "\"$SHMCTL\""))
      #expect(run.status == 0 && run.text.contains("repaired: 99 keys kept, 1 given up"), "\(run.text)\(run.errors)")
      #expect(try handle.check() == [])
    }
  }

  @Test func aNearlyFullTableIsFound() throws {
    let table = try TestTable()
    let handle = try table.open()
    let long = String(repeating: "v", count: 15_000)
    var index = 0
    while (try? handle.set("k\(index)", long)) != nil { index += 1 }
    #expect(try findings(table).map { $0["check"] as? String } == ["nearlyFull"])
  }

  @Test func aCopyThatAKilledResizeLeftIsFound() throws {
    let table = try TestTable()
    let ended = try CommandRun(shell: "echo $$").text.trimmingCharacters(in: .newlines)
    let copy = "\(table.name).resize.\(ended)"
    _ = try Table.create(copy, Table.Options(capacityBytes: 2 << 20))
    defer { try? Table.drop(copy) }
    let run = try CommandRun(["doctor", copy])
    #expect(run.status == 9 && run.text.contains("left of '\(table.name)', which is there; it may be a part\n"))
    #expect(
      run.text.contains("\n  cure: shmctl drop \(copy)    # unless 'shmctl diff \(table.name) \(copy)' shows what"))
    #expect(try CommandRun(["drop", table.name]).status == 0)
    let alone = try CommandRun(["doctor", copy])
    #expect(alone.text.contains("\n  cure: shmctl copy \(copy) \(table.name) && shmctl drop \(copy)\n"))
    // Of a process that lives, and a name that is no copy's.
    for name in ["\(table.name).resize.\(getpid())", "\(table.name).resize.0\(ended)"] {
      _ = try Table.create(name, Table.Options(capacityBytes: 2 << 20))
      defer { try? Table.drop(name) }
      #expect(try CommandRun(["doctor", name]).status == 0)
    }
  }

  // MARK: - The host, by what was read

  @Test func removeIPCIsOnUnlessSwitchedOff() {
    #expect(RemoveIPC.isOn([]))
    #expect(RemoveIPC.isOn(["[Login]\n#RemoveIPC=no\n"]))
    #expect(!RemoveIPC.isOn(["[Login]\nRemoveIPC=no\n"]))
    #expect(!RemoveIPC.isOn(["RemoveIPC = off"]))
    #expect(RemoveIPC.isOn(["RemoveIPC=no", "RemoveIPC=yes"]))
    #expect(RemoveIPC.isOn(["RemoveIPC=no\nRemoveIPC="]))
    #expect(!RemoveIPC.isOn(["RemoveIPC=no", "RemoveIPC=perhaps"]))
  }

  @Test func removeIPCHitsLoginUsersWhoDoNotLinger() {
    let owners: [(id: UInt32, table: String)] = [(0, "a"), (999, "b"), (54_321, "c")]
    let findings = RemoveIPC.findings(owners: owners, configuration: [])
    #expect(findings.map(\.table) == ["c"])
    #expect(findings[0].cure.hasPrefix("loginctl enable-linger 54321"))
    #expect(RemoveIPC.findings(owners: owners, configuration: ["RemoveIPC=no"]).isEmpty)
  }

  @Test func limitsAndRoomAreFound() {
    #expect(HostHealth.room(free: nil, claims: .max) == nil && HostHealth.room(free: 10, claims: 10) == nil)
    #expect(HostHealth.room(free: 1 << 20, claims: 1 << 30)?.cure.hasPrefix("mount -o remount,size=") == true)
    #expect(HostHealth.addressSpace(limit: nil, needed: .max) == nil)
    #expect(HostHealth.addressSpace(limit: 1 << 20, needed: 1 << 21)?.check == "addressSpace")
    #expect(HostHealth.descriptors(limit: 1024, tables: 400) == nil)
    #expect(HostHealth.descriptors(limit: 1024, tables: 507)?.cure.contains("ulimit -n 4096") == true)
    #expect(HostHealth.membarrier(true) == nil && HostHealth.membarrier(false) != nil)
    #expect(HostHealth.hiddenProcesses(canSeeInit: true) == nil && HostHealth.hiddenProcesses(canSeeInit: false) != nil)
    #expect(HostHealth.failedUnit("active") == nil && HostHealth.failedUnit(nil) == nil)
    #expect(HostHealth.failedUnit("failed")?.cure.contains("reset-failed") == true)
  }

  @Test func limitsAreThoseOfTheProcess() throws {
    let table = try TestTable()
    let more = try CommandRun(shell: #"ulimit -n 64; "$SHMCTL" doctor --json"#)
    #expect(more.objects.contains { $0?["check"] as? String == "descriptors" }, "\(more.errors)")
    withExtendedLifetime(table) {}
  }
}
