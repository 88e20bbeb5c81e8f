import Foundation
import Glibc
import SharedTable
import TableDump
import TestSupport
import Testing

@Suite struct DumpTests {
  private static func fill(_ table: Table, _ count: Int) throws {
    for start in stride(from: 0, to: count, by: 1000) {
      try table.barrier { tx in for index in start..<min(count, start + 1000) { try tx.set("key-\(index)", index) } }
    }
  }

  @Test(arguments: [Table.Variant.rcu, .rwlock], [[], ["--json"]])
  func everyByteOfAKeyRoundTripsThroughAPipe(variant: Table.Variant, form: [String]) throws {
    let source = try TestTable(Table.Options(variant: variant, capacityBytes: 4 << 20))
    let target = try TestTable()
    let table = try source.open()
    for byte in UInt8.min...UInt8.max {
      try table.set([byte], Int(byte))
      try table.set([0x6b, byte, 0x0a], [byte, 0] as [UInt8], expires: .after(.seconds(3600)))
    }
    let run = try CommandRun(
      shell: #""$SHMCTL" dump -t "$S" $F | "$SHMCTL" load -t "$T""#,
      environment: ["S": source.name, "T": target.name, "F": form.joined()])
    #expect(run.status == 0 && run.text == "512 records applied\n" && run.errors.isEmpty)
    let loaded = try target.open()
    for byte in UInt8.min...UInt8.max {
      #expect(try loaded.get([byte], as: Int.self) == Int(byte))
      #expect(try loaded.get([0x6b, byte, 0x0a], as: [UInt8].self) == [byte, 0])
      #expect(try loaded.entry(forKey: [0x6b, byte, 0x0a])?.expiry == table.entry(forKey: [0x6b, byte, 0x0a])?.expiry)
    }
  }

  @Test func aFileIsThereWholeOrNotAtAll() throws {
    let table = try TestTable()
    try Self.fill(table.open(), 10)
    let file = try Scratch()
    #expect(try table.run("dump", "-o", file.path).status == 0)
    #expect(
      try CommandRun(["load", "--dry-run", file.path]).text.hasSuffix("version \(table.open().version): 10 records\n"))
    for more in [[], ["--dry-run"]] {
      let run = try table.run(["load", "--skip", "11", file.path] + more)
      #expect(run.status == 2 && run.errors.contains("--skip 11 is more than the 10 records"), "\(run.errors)")
    }
    let whole = try Data(contentsOf: URL(fileURLWithPath: file.path))
    // No room for more than a part: what was there stays, and no draft is left.
    try Self.fill(table.open(), 9000)
    let run = try CommandRun(
      shell: #"ulimit -f 20; trap '' XFSZ; "$SHMCTL" dump -t "$T" -o "$O""#,
      environment: ["T": table.name, "O": file.path])
    #expect(run.status == 11)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == whole)
    #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.path) == ["file"])
  }

  @Test func aLinkThatLeadsToNothingYetStays() throws {
    let table = try TestTable()
    try Self.fill(table.open(), 10)
    let file = try Scratch()
    let link = file.folder.appendingPathComponent("link").path
    let folder = file.folder.appendingPathComponent("folder").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let links = unsafe [symlink("folder/next", link), symlink("made", folder + "/next")]
    #expect(links == [0, 0])
    #expect(try table.run("dump", "-o", link).status == 0)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "folder/next")
    #expect(try CommandRun(["load", "--dry-run", folder + "/made"]).status == 0)
  }

  @Test func whatOneTableTakesAndAnotherDoesNotIsRefusedBeforeAnythingIsApplied() throws {
    let (source, target) = (try TestTable(), try TestTable(Table.Options(capacityBytes: 2 << 20)))
    try Self.fill(source.open(), 3000)
    try source.open().set("large", [UInt8](repeating: 7, count: 600_000))
    for form in [[], ["--json"]] {
      let dump = try source.run(["dump"] + form).output
      let run = try target.run("load", input: dump)
      #expect(run.status == 6 && run.errors.contains("a value of 600000 bytes"), "\(run.status) \(run.errors)")
      #expect(try target.open().count == 0)
    }
  }

  @Test(arguments: [false, true])
  func aDumpThatIsKilledLeavesNothing(wasThere: Bool) throws {
    let table = try TestTable(Table.Options(variant: .rwlock, capacityBytes: 4 << 20))
    let file = try Scratch()
    if wasThere { #expect(FileManager.default.createFile(atPath: file.path, contents: Data("before".utf8))) }
    try table.open().barrier { _ in
      let words = ["-t", table.name, "--timeout", "60s", "dump", "-o", file.path]
      let waiting = try WorkerProcess(CommandRun.path, words, timeoutSeconds: 100)
      try waiting.waitUntilAsleep(in: .futex)
      waiting.kill(SIGKILL)
      #expect(try waiting.wait() == .signal(SIGKILL))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.path) == (wasThere ? ["file"] : []))
    #expect(try table.run("dump", "-o", file.path).status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.path) == ["file"])
    #expect(try CommandRun(["load", "--dry-run", file.path]).status == 0)
  }

  @Test func whatIsDamagedIsRefusedBeforeAnythingIsApplied() throws {
    let (source, target) = (try TestTable(), try TestTable())
    try Self.fill(source.open(), 9000)
    var dump = try source.run("dump").output
    dump[dump.count - 100] ^= 1
    let run = try target.run("load", input: dump)
    #expect(run.status == 9)
    #expect(run.errors.contains("the block that begins here is damaged"))
    #expect(try target.open().count == 0)
    // A part of it that is whole is applied as it comes, and what was done is told.
    let streamed = try CommandRun(
      shell: #""$SHMCTL" dump -t "$S" | head -c 300000 | "$SHMCTL" load -t "$T" --stream"#,
      environment: ["S": source.name, "T": target.name])
    let count = try target.open().count
    #expect(streamed.status == 9 && count > 0 && count < 9000)
    #expect(streamed.errors.contains("\(count) records of the dump are done: 'shmctl load --skip \(count)'"))
    #expect(try target.run("load", "--skip", "\(count)", input: source.run("dump").output).status == 0)
    #expect(try target.open().count == 9000)
  }

  @Test func whatDoesNotFitSaysHowMuchDid() throws {
    let source = try TestTable(Table.Options(capacityBytes: 32 << 20))
    let small = try TestTable(Table.Options(capacityBytes: 1 << 20))
    try Self.fill(source.open(), 60_000)
    let dump = try source.run("dump").output
    let run = try small.run("load", input: dump)
    #expect(run.status == 5)
    let done = try small.open().count
    #expect(run.errors.contains("\(done) records of the dump are done: 'shmctl load --skip \(done)'"))
    // One barrier or nothing.
    let other = try TestTable(Table.Options(capacityBytes: 1 << 20))
    try other.open().set("mine", 1)
    let replaced = try other.run("load", "--replace", input: dump)
    #expect(replaced.status == 5 && replaced.errors.contains("nothing was changed"))
    #expect(try other.open().count == 1)
  }

  /// The dump is read into memory: no more of it than the table could hold.
  @Test func aReplaceRefusesWhatNoBarrierCouldStoreBeforeItBegins() throws {
    func dump(_ expiry: UInt64) -> [UInt8] {
      let value = String(repeating: "x", count: 100_000)
      var lines = [#"{"dump":"shmtable","format":1}"#]
      for number in 0..<40 {
        lines.append(#"{"key":"k\#(number)","value":"\#(value)","expiryNanoseconds":\#(expiry)}"#)
      }
      return Array((lines + [#"{"end":true}"#]).joined(separator: "\n").utf8) + [10]
    }
    let small = try TestTable(Table.Options(capacityBytes: 1 << 20))
    try small.open().set("mine", 1)
    let run = try small.run("load", "--replace", input: dump(.max))
    #expect(run.status == 5 && run.errors.contains("more bytes than its capacity of "), "\(run.errors)")
    #expect(try small.open().count == 1)
    // What has expired takes no room.
    let expired = try small.run("load", "--replace", input: dump(1))
    #expect(expired.text == "0 records applied, 40 expired records left out, 1 key removed\n", "\(expired.errors)")
  }

  @Test func aLoadGoesOnWhereTheFormerEnded() throws {
    let source = try TestTable(Table.Options(capacityBytes: 16 << 20))
    let handle = try source.open()
    try handle.barrier { tx in for number in 0..<5000 { try tx.set("key\(number)", String(repeating: "v", count: 200)) }
    }
    let folder = try Scratch()
    #expect(try source.run("dump", "-o", folder.file("dump")).status == 0)
    // Too small for all of it, and then not any more.
    let target = try TestTable(Table.Options(capacityBytes: 1 << 20))
    let first = try target.run("load", "--resume", folder.file("dump"))
    #expect(first.status == 5 && first.errors.contains("'shmctl load --resume' goes on behind them"), "\(first.errors)")
    let table = try target.open()
    let done = try #require(try table.read { view in try view.keys(prefix: "shmctl.load.") }.first)
    let count = try #require(try table.get(done, as: Int.self))
    #expect(count > 0 && count < 5000 && table.count == count + 1)
    // What is done is not done again: who has changed a key since keeps the change.
    let loaded = try #require(try table.read { view in try view.keys(prefix: "key") }.first)
    try table.set(loaded, "newer")
    try handle.barrier { tx in for number in 0..<5000 { try tx.remove("key\(number)") } }
    #expect(try CommandRun(["resize", target.name, "--force", "--capacity", "16MiB"]).status == 0)
    let second = try target.run("load", "--resume", folder.file("dump"))
    #expect(second.status == 0 && second.errors.contains("goes on behind the \(count) records"), "\(second.errors)")
    let whole = try target.open()
    #expect(whole.count == 5000)
    #expect(try whole.get(loaded, as: String.self) == "newer")
    #expect(try whole.read { view in try view.keys(prefix: "shmctl.") }.isEmpty)
    // A whole load ends what one before it has begun: a later one leaves nothing out.
    try whole.set(done, 3)
    #expect(try target.run("load", folder.file("dump")).status == 0)
    #expect(try !whole.contains(done))
    #expect(try target.run("load", "--resume", "--skip", "1", folder.file("dump")).status == 2)
    let plain = Array(#"{"dump":"shmtable","format":1}\#n{"key":"a","value":1}\#n{"end":true}\#n"#.utf8)
    #expect(try target.run("load", "--resume", input: plain).errors.contains("use --skip"))
  }

  /// A name of a file in nothing would be one in the root.
  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be a user who may not write there"))
  func anEmptyTMPDIRIsNone() throws {
    let table = try TestTable(isMade: false)
    let run = try CommandRun(
      shell: """
        exec setpriv --reuid=$U --regid=$U --clear-groups sh -c '
          "$SHMCTL" create "$T" --capacity 2MiB && "$SHMCTL" -t "$T" set k v
          "$SHMCTL" -t "$T" dump | "$SHMCTL" -t "$T" load
          status=$?; "$SHMCTL" drop "$T"; exit $status'
        """, environment: ["T": table.name, "U": "\(try #require(stranger))", "TMPDIR": ""])
    #expect(run.status == 0 && run.text == "1 record applied\n", "\(run.errors)")
  }

  @Test func rulesForKeysThatAreThere() throws {
    let (source, target) = (try TestTable(), try TestTable())
    try Self.fill(source.open(), 3)
    let dump = try source.run("dump").output
    let table = try target.open()
    try table.set("key-1", "mine")
    try table.set("other", 1)
    #expect(try target.run("load", "--if-absent", input: dump).text == "2 records applied, 1 key left as it was\n")
    #expect(try table.get("key-1", as: String.self) == "mine")
    #expect(try target.run("load", "--merge", input: dump).text == "3 records applied\n")
    #expect(try table.get("key-1", as: Int.self) == 1)
    #expect(table.count == 4)
    #expect(try target.run("load", "--replace", "--json", input: dump).objects.first??["removed"] as? Int == 1)
    #expect(table.count == 3)
    #expect(try target.run("load", "--replace", "--merge", input: dump).status == 2)
  }

  @Test(arguments: [[], ["--json"]])
  func aDumpOfAPartReplacesThatPart(form: [String]) throws {
    let table = try TestTable()
    let handle = try table.open()
    for key in ["user:1", "user:2", "other"] { try handle.set(key, "before") }
    let dump = try table.run(["dump", "--prefix", "user:"] + form).output
    for key in ["user:2", "user:3", "other"] { try handle.set(key, "after") }
    let run = try table.run("load", "--replace", input: dump)
    #expect(run.text == "2 records applied, 1 key removed\n", "\(run.errors)")
    #expect(try table.run("ls", "--sort").text == "other\nuser:1\nuser:2\n")
    #expect(try handle.get("user:2", as: String.self) == "before")
    #expect(try handle.get("other", as: String.self) == "after")
  }

  @Test func aTerminalGetsNoBinaryAndNoOneElseGetsProgress() throws {
    let table = try TestTable()
    let run = try CommandRun(
      shell: #"script -qec "$SHMCTL -t $T dump" /dev/null </dev/null"#, environment: ["T": table.name])
    #expect(run.status == 2 && run.text.contains("not for a terminal"))
    #expect(try table.run("dump").errors.isEmpty)
    #expect(try table.run("load", input: Array("hello".utf8)).errors.contains("no dump of a table"))
  }

  @Test func dumpsOfARandomFewFlippedBytesNeverCrashAndNeverHalfApply() throws {
    let source = try TestTable()
    let target = try TestTable()
    try Self.fill(source.open(), 3)
    let json = try source.run("dump", "--json").output
    let binary = try source.run("dump").output
    var random = SplitMix(seed: 20_261_124)
    for dump in [json, binary] {
      for _ in 0..<20 {
        var damaged = dump
        let index = Int(random.next() % UInt64(dump.count))
        damaged[index] = UInt8(truncatingIfNeeded: random.next())
        let before = try target.open().version
        let run = try target.run("load", "-q", input: damaged)
        #expect([0, 2, 6, 8, 9].contains(run.status), "byte \(index) to \(damaged[index]): \(run.errors)")
        if run.status != 0 { #expect(try target.open().version == before) }
      }
    }
  }
}

/// A folder of one test's own with a file's name in it; gone with this.
final class Scratch: Sendable {
  let folder: URL
  var path: String { file("file") }

  /// One of a name of its own; empty: the folder.
  func file(_ name: String) -> String { name.isEmpty ? folder.path : folder.appendingPathComponent(name).path }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("shmctl-test-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}
