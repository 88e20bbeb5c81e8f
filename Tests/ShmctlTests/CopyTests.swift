import Foundation
import Glibc
@testable import SharedTable
import TestSupport
import Testing

@Suite struct CopyTests {
  private static func fill(_ table: Table, _ count: Int) throws {
    for start in stride(from: 0, to: count, by: 1000) {
      try table.barrier { tx in for index in start..<min(count, start + 1000) { try tx.set("key-\(index)", index) } }
    }
  }

  @Test func aCopyIsMadeAndMerged() throws {
    let source = try TestTable(Table.Options(variant: .rwlock, capacityBytes: 3 << 20))
    let target = try TestTable(isMade: false)
    try Self.fill(source.open(), 9000)
    #expect(try CommandRun(["copy", source.name, target.name]).text == "9000 records applied\n")
    let copy = try target.open()
    #expect(copy.count == 9000 && copy.variant == .rwlock && copy.capacityBytes == 3 << 20)
    #expect(try CommandRun(["diff", source.name, target.name]).status == 0)
    try copy.set("key-1", "mine")
    #expect(
      try CommandRun(["copy", source.name, target.name, "--prefix", "key-1", "--if-absent"]).text
        == "0 records applied, 1111 keys left as they were\n")
    #expect(try copy.get("key-1", as: String.self) == "mine")
    // It is not made anew: options of a table that is made are as it is, or refused.
    for (options, status) in [
      (["--variant", "rwlock", "--capacity", "3MiB"], 0), (["--capacity", "2500KiB"], 0), (["--variant", "rcu"], 2),
      (["--capacity", "4MiB"], 2), (["--capacity", "2MiB"], 2),
    ] {
      let run = try CommandRun(["copy", source.name, target.name, "--prefix", "none"] + options)
      #expect(run.status == status, "\(options): \(run.errors)")
    }
    #expect(try CommandRun(["copy", source.name, source.name]).status == 2)
  }

  @Test func aCopyThatFailsLeavesNoHalfTable() throws {
    let (source, target) = (try TestTable(), try TestTable(isMade: false))
    try Self.fill(source.open(), 30_000)
    let run = try CommandRun(["copy", source.name, target.name, "--capacity", "1MiB"])
    #expect(run.status == 5 && run.errors.contains("the table that was made for it is removed"), "\(run.errors)")
    #expect(!target.exists)
    // Into one that was there some records have gone by then.
    let other = try TestTable(Table.Options(capacityBytes: 1 << 20))
    try other.open().set("mine", 1)
    let merged = try CommandRun(["copy", source.name, other.name])
    let count = try #require(merged.errors.firstMatch(of: /; ([0-9]+) records are copied/)?.1)
    #expect(merged.status == 5)
    #expect(try Int(count) == other.open().count - 1)
  }

  @Test func differencesOfTablesAndDumps() throws {
    let (first, second) = (try TestTable(), try TestTable())
    let (left, right) = (try first.open(), try second.open())
    for (table, value) in [(left, 1), (right, 2)] {
      try table.set("same", "x")
      try table.set("value", value)
      try table.set("expiry", "x", expires: .after(.seconds(1000 * value)))
    }
    try left.set("type", "1")
    try right.set("type", 1)
    try left.set("gone\n", 1)
    try right.set("new", 1)
    let run = try CommandRun(["diff", first.name, second.name])
    #expect(run.text == "~ expiry\n- gone\\n\n+ new\n~ type\n~ value\n" && run.status == 1)
    #expect(!(try CommandRun(["diff", first.name, second.name, "--ignore-expiry"])).text.contains("expiry"))
    let json = try CommandRun(["diff", first.name, second.name, "--json"]).objects
    #expect(json.compactMap { $0?["change"] as? String } == ["changed", "removed", "added", "changed", "changed"])
    let file = try Scratch()
    #expect(try first.run("dump", "-o", file.path).status == 0)
    #expect(try CommandRun(["diff", file.path, first.name]).status == 0)
    #expect(try CommandRun(["diff", second.name, "-"], input: first.run("dump", "--json").output).status == 1)
    let none = try CommandRun(["diff", first.name, "no-such-table"])
    #expect(none.status == 3 && none.errors.contains("with a slash"))
  }

  @Test func aCapacityThatCannotBeIsSaidOfTheTable() throws {
    let table = try TestTable()
    let run = try CommandRun(["resize", table.name, "--capacity", "1"])
    #expect(run.status == 2 && run.errors.hasPrefix("shmctl: table '\(table.name)': "), "\(run.errors)")
    #expect(run.errors.contains("capacity 1: at least"))
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func resizeOfAnothersTableLeavesNoCopy() throws {
    let stranger = try #require(stranger)
    let table = try TestTable(isMade: false)
    #expect(try CommandRun(["create", table.name, "--capacity", "2MiB"], user: stranger).status == 0)
    let run = try CommandRun(["resize", table.name, "--capacity", "4MiB", "--trust", "\(stranger)"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try Table.open(table.name, trusting: [stranger]).capacityBytes == 4 << 20)
    #expect(try Table.names().filter { $0.hasPrefix(table.name + ".resize.") }.isEmpty)
  }

  @Test func ofAKeyThatADumpHasTwiceTheLastOneCounts() throws {
    // As 'load' has it; lines of JSON may be written by hand.
    let table = try TestTable()
    try table.open().set("a", 2)
    try table.open().set("b", 1)
    let records = { (values: [(String, Int)]) in
      #"{"dump":"shmtable","format":1}"# + "\n" + values.map { #"{"key":"\#($0)","value":\#($1)}"# + "\n" }.joined()
        + #"{"end":true}"# + "\n"
    }
    for (values, difference) in [
      ([("a", 2), ("b", 1), ("a", 2)], ""), ([("a", 1), ("b", 1), ("a", 2)], ""),
      ([("a", 2), ("b", 1), ("a", 1)], "~ a\n"), ([("a", 2), ("b", 1), ("c", 1), ("c", 2)], "+ c\n"),
    ] {
      let dump = Array(records(values).utf8)
      let run = try CommandRun(["diff", table.name, "-"], input: dump)
      #expect(run.text == difference && run.status == (difference.isEmpty ? 0 : 1), "\(values): \(run.text)")
      let other = try CommandRun(["diff", "-", table.name], input: dump)
      #expect(other.text == difference.replacing("+", with: "-"), "\(values): \(other.text)")
    }
  }

  @Test func resizeKeepsContentsAndRights() throws {
    let table = try TestTable(Table.Options(capacityBytes: 2 << 20, mode: 0o640))
    do { try Self.fill(table.open(), 9000) }
    #expect(try table.run("set", "expires", "x", "--ttl", "1h").status == 0)
    let run = try CommandRun(["resize", table.name, "--capacity", "32MiB", "--variant", "rwlock"])
    #expect(run.status == 0, "\(run.errors)")
    let larger = try table.open()
    #expect(larger.capacityBytes == 32 << 20 && larger.variant == .rwlock && larger.count == 9001)
    #expect(try larger.get("key-8999", as: Int.self) == 8999)
    #expect(try larger.entry(forKey: "expires")?.expiry != nil)
    #expect(try larger.administration.rights().mode == 0o640)
    #expect(try Table.names().filter { $0.hasPrefix(table.name) } == [table.name])
  }

  /// A program that opens the new table at once finds all there is, and what it writes stays. Versions go on above those of the old table.
  @Test func aResizedTableIsThereWholeOrNotAtAll() throws {
    let table = try TestTable(Table.Options(capacityBytes: 8 << 20))
    let old = try table.open()
    try Self.fill(old, 40_000)
    let version = old.version
    let command = try WorkerProcess(
      CommandRun.path, ["resize", table.name, "--capacity", "32MiB", "--force"], timeoutSeconds: 100)
    var new: Table?
    let isThere = eventually {
      new = try? table.open()
      return new?.capacityBytes == 32 << 20
    }
    #expect(isThere)
    let handle = try #require(new)
    #expect(handle.count == 40_000 && handle.version > version)
    #expect(handle.segment.hashSeed == old.segment.hashSeed, "a cache's ledger names elements by their hashes")
    #expect(try handle.increment("key-39999") == 40_000)
    #expect(try command.wait() == .code(0))
    #expect(try handle.get("key-39999", as: Int.self) == 40_000 && handle.administration.isNamed)
    let first = try #require(try handle.entry(forKey: "key-0"))
    #expect(try first.version > version && handle.check() == [])
  }

  /// shmd keeps the old one's file, and would leave the new one alone.
  @Test func aStoredTableIsResizedByForceAlone() throws {
    let table = try TestTable()
    do { try table.open().segment.setKeeping(.kept) }
    let refused = try CommandRun(["resize", table.name, "--capacity", "8MiB"])
    #expect(refused.status == 11 && refused.errors.contains("shmd stores it"), "\(refused.errors)")
    let forced = try CommandRun(["resize", table.name, "--capacity", "8MiB", "--force"])
    #expect(forced.status == 0 && forced.errors.contains("shmd does not store it while"), "\(forced.errors)")
    // Nobody stores the new one, nor one that shmd was told to leave.
    let other = try CommandRun(["resize", table.name, "--capacity", "16MiB"])
    #expect(other.status == 0 && other.errors.isEmpty, "\(other.errors)")
  }

  @Test func resizeKeepsHowTheTableWasMade() throws {
    let made = Table.Options(
      capacityBytes: 2 << 20, limboBudgetBytes: 300 << 10, stalledReaderPolicy: .refuse, preallocate: true,
      hugePages: false)
    let table = try TestTable(made)
    #expect(try CommandRun(["resize", table.name, "--variant", "rwlock"]).status == 0)
    var kept = try table.open().administration.options()
    #expect(kept.variant == .rwlock && kept.limboBudgetBytes == 300 << 10 && kept.stalledReaderPolicy == .refuse)
    #expect(kept.preallocate && !kept.hugePages)
    #expect(try CommandRun(["resize", table.name, "--capacity", "4MiB"]).status == 0)
    kept = try table.open().administration.options()
    #expect(kept.capacityBytes == 4 << 20 && kept.limboBudgetBytes == 1 << 20 && kept.preallocate && !kept.hugePages)
  }

  @Test func resizeLeavesATableAloneThatOthersUseOrThatWouldNotFit() throws {
    let table = try TestTable()
    let handle = try table.open()
    try Self.fill(handle, 20_000)
    let used = try CommandRun(["resize", table.name, "--capacity", "8MiB", "--timeout", "100ms"])
    #expect(used.status == 7 && used.errors.contains("pid \(getpid()), has it open"))
    let small = try CommandRun(["resize", table.name, "--capacity", "1MiB", "--force"])
    #expect(small.status == 5)
    #expect(handle.administration.isNamed && handle.count == 20_000 && handle.capacityBytes == 4 << 20)
    #expect(try CommandRun(["resize", table.name, "--capacity", "8MiB", "--force"]).status == 0)
    #expect(!handle.administration.isNamed)
    #expect(try handle.get("key-1", as: Int.self) == 1)
    #expect(throws: TableError.self) { try handle.set("key-1", 2) }
    #expect(try table.open().count == 20_000)
    #expect(try Table.names().filter { $0.hasPrefix(table.name) } == [table.name])
  }

  @Test func resizeWaitsForWhoUsesTheTableForAMoment() throws {
    let table = try TestTable()
    let resize: WorkerProcess
    do {
      let user = try table.open()
      try user.set("k", 1)
      resize = try WorkerProcess(
        CommandRun.path, ["resize", table.name, "--capacity", "8MiB", "--timeout", "60s"], timeoutSeconds: 100)
      try resize.waitUntilAsleep()
    }
    try resize.finish()
    #expect(try table.open().capacityBytes == 8 << 20)
  }

  @Test(.enabled(if: ((try? Table.freeBytes()) ?? nil) != nil, "cannot run: /dev/shm has no limit"))
  func aCapacityThatCouldNeverBeHeldIsRefused() throws {
    let (table, target) = (try TestTable(), try TestTable(isMade: false))
    for words in [["resize", table.name], ["copy", table.name, target.name]] {
      let run = try CommandRun(words + ["--capacity", "4TiB"])
      #expect(run.status == 5 && run.errors.contains("full: /dev/shm has room for "), "\(words): \(run.errors)")
    }
    #expect(try table.open().capacityBytes == 4 << 20 && !target.exists)
  }

  @Test func resizeThatASignalEndsLeavesNoCopy() throws {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
      let table = try TestTable(Table.Options(capacityBytes: 32 << 20))
      do { try Self.fill(table.open(), 100_000) }
      var wasEnded = false
      // The signal may come when the copy is whole, or this process be too late to see it.
      for attempt in 1...10 where !wasEnded {
        let capacity = (32 + attempt) << 20
        let resize = try WorkerProcess(
          CommandRun.path, ["resize", table.name, "--capacity", "\(capacity)"], timeoutSeconds: 100)
        let copy = "\(table.name).resize.\(resize.pid)"
        _ = try eventually { try Table.names().contains(copy) || table.open().capacityBytes == capacity }
        resize.kill(signal)
        let exit = try resize.wait()
        wasEnded = exit == .signal(signal)
        #expect(wasEnded || exit == .code(0), "\(exit)")
        #expect(try !Table.names().contains(copy), "signal \(signal)")
        _ = try CommandRun(["drop", copy])
        #expect(try table.open().count == 100_000)
      }
      #expect(wasEnded, "signal \(signal)")
    }
  }

  @Test func resizeToTooLittleNamesTheTableThatItLeavesAsItIs() throws {
    let table = try TestTable()
    do { try Self.fill(table.open(), 20_000) }
    let run = try CommandRun(["resize", table.name, "--capacity", "1MiB"])
    #expect(run.status == 5)
    #expect(
      run.errors.hasPrefix(
        "shmctl: table '\(table.name)': its contents do not fit into 1MiB (variant rcu); nothing has changed; "),
      "\(run.errors)")
    #expect(try table.open().count == 20_000)
  }
}
