import Foundation
import SharedTable
import Testing

/// The commands on values that are neither get nor set.
@Suite struct DataCommandTests {
  @Test func mgetPrintsWhatMsetReads() throws {
    let (table, copy) = (try TestTable(), try TestTable())
    let handle = try table.open()
    var keys: [[UInt8]] = []
    for byte in UInt8(1)...255 {
      keys.append([byte, 0x5c])
      try handle.set(keys[keys.count - 1], [0x6e, byte, 0x5c, byte])
    }
    for option in ["", "-0"] {
      let run = try CommandRun(
        shell: #""$SHMCTL" -t "$T" ls -0 | "$SHMCTL" -t "$T" mget -0 - \#(option == "" ? "| cat" : "") >/dev/null"#
          + #"; "$SHMCTL" -t "$T" ls -0 | xargs -0 "$SHMCTL" -t "$T" mget \#(option) -- | "$SHMCTL" -t "$C" mset \#(option) -"#,
        environment: ["T": table.name, "C": copy.name])
      #expect(run.status == 0, "\(run.errors)")
      for key in keys { #expect(try copy.open().bytes(forKey: key) == handle.bytes(forKey: key)) }
      #expect(try copy.open().count == keys.count)
      try copy.open().remove(keys)
    }
  }

  /// Each byte of both is two in a line.
  @Test func msetTakesTheLongestLineThatMgetPrints() throws {
    let (table, other) = (try TestTable(), try TestTable())
    let handle = try table.open()
    let key = [UInt8](repeating: UInt8(ascii: "\\"), count: 65_536)
    let value = [UInt8](repeating: UInt8(ascii: "\\"), count: handle.maximumValueLength)
    try handle.set(key, value)
    let run = try CommandRun(
      shell: #""$SHMCTL" -t "$T" ls | "$SHMCTL" -t "$T" mget - | "$SHMCTL" -t "$C" mset -"#,
      environment: ["T": table.name, "C": other.name])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try other.open().bytes(forKey: key) == value)
  }

  @Test func msetStoresAllOrNone() throws {
    let table = try TestTable()
    #expect(try table.run("mset", "a", "1", "b", "2", "--int", "--ttl", "1h").status == 0)
    #expect(try table.run("get", "a", "b").text == "1\n2\n")
    #expect(try table.open().entry(forKey: "b")?.type == .integer)
    #expect(try table.open().entry(forKey: "b")?.expiry != nil)
    for wrong in [
      ["mset", "c"], ["mset", "c", "1", "d"], ["mset", "c", "1", "--int", "d", "x"], ["mset", "c", "1", "-"],
    ] {
      #expect(try CommandRun(["-t", table.name] + wrong).status == 2, "\(wrong)")
    }
    #expect(try !table.open().contains("c"))
    let line = try table.run("mset", "-", input: Array("x\t1\ny\n".utf8))
    #expect(line.status == 2)
    #expect(line.errors.contains("line 2 of standard input is no key and value; "))
    #expect(try table.run("mset", "-0", "-", input: Array("x\u{0}1\u{0}y\u{0}".utf8)).status == 2)
    // Longer than what is read at once.
    let value = String(repeating: "v", count: 300)
    let long = (0..<2000).flatMap { Array("x\($0)\t\(value)\n".utf8) }
    #expect(try table.run("mset", "-", input: long + Array("y\n".utf8)).status == 2)
    #expect(try table.open().count == 2)
    #expect(try table.run("mset", "-", input: long).status == 0)
    #expect(try table.open().count == 2002)
    let endless = try CommandRun(
      shell: #"yes "$(printf 'x\ty')" | "$SHMCTL" -t "$T" mset -"#, environment: ["T": table.name])
    #expect(endless.status == 5 && endless.errors.contains("more than the table could hold; nothing was stored"))
    #expect(try table.run("mget", "a", "none").text == "a\t1\n")
  }

  @Test func typeAndTtlHaveALineForEveryKey() throws {
    let table = try TestTable()
    try table.open().set("s", "x")
    try table.open().set("i", 1, expires: .after(.seconds(3600)))
    let types = try table.run("type", "s", "none", "i")
    #expect(types.status == 1 && types.text == "string\nnone\ninteger\n")
    let times = try table.run("ttl", "s", "none", "i")
    #expect(times.status == 1)
    let lines = times.text.split(separator: "\n")
    #expect(lines.count == 3 && lines[0] == "never" && lines[1] == "none")
    #expect(lines.last.map { ["3600s", "3599s", "3598s", "3597s"].contains($0) || $0.hasPrefix("35") } == true)
    let object = try #require(try table.run("ttl", "i", "--json").objects.first ?? nil)
    #expect((object["timeLeftMilliseconds"] as? Int).map { (1...3_600_000).contains($0) } == true)
  }

  @Test func expireAndPersistLeaveTheValueWhatItIs() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.set("k", Point(x: 1, y: 2))
    #expect(try table.run("expire", "k", "1h").status == 0)
    #expect(try handle.entry(forKey: "k")?.expiry != nil)
    #expect(try handle.get("k", as: Point.self) == Point(x: 1, y: 2))
    #expect(try table.run("persist", "k").status == 0)
    #expect(try handle.entry(forKey: "k")?.expiry == nil)
    let version = try handle.entry(forKey: "k")?.version
    #expect(try table.run("persist", "k", "none").status == 1)
    #expect(try handle.entry(forKey: "k")?.version == version)
    #expect(try handle.get("k", as: Point.self) == Point(x: 1, y: 2))
    #expect(try table.run("expire", "none", "1h").status == 1)
    #expect(try table.run("expire", "k", "0").status == 2)
  }

  @Test func renameMovesTheValueWithAllThatIsStoredBesideIt() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.set("a", Point(x: 1, y: 2), expires: .after(.seconds(3600)))
    let expiry = try handle.entry(forKey: "a")?.expiry
    #expect(try table.run("rename", "a", "a").status == 0)
    #expect(try table.run("rename", "a", "b").status == 0)
    #expect(try handle.get("b", as: Point.self) == Point(x: 1, y: 2))
    #expect(try handle.entry(forKey: "b")?.expiry == expiry)
    #expect(try !handle.contains("a"))
    #expect(try table.run("rename", "a", "c").status == 1)
    try handle.set("c", 1)
    #expect(try table.run("rename", "b", "c", "--if-absent").status == 1)
    #expect(try handle.contains("b"))
    #expect(try table.run("rename", "b", "c").status == 0)
    #expect(try handle.get("c", as: Point.self) == Point(x: 1, y: 2))
  }

  @Test func casReplacesOnlyWhatWasExpected() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.set("k", 5, expires: .after(.seconds(3600)))
    #expect(try table.run("cas", "k", "4", "6").status == 1)
    #expect(try table.run("cas", "k", "5", "6").status == 0)
    #expect(try handle.get("k", as: Int.self) == 6)
    #expect(try handle.entry(forKey: "k")?.expiry != nil)
    #expect(try table.run("cas", "k", "6", "six").status == 2)
    #expect(try table.run("cas", "k", "6", "six", "--string").status == 0)
    #expect(try handle.get("k", as: String.self) == "six")
    #expect(try table.run("cas", "none", "", "x").status == 1)
  }

  @Test func appendAddsToStringsAndBytes() throws {
    let table = try TestTable()
    let handle = try table.open()
    #expect(try table.run("append", "s", "ab").text == "2\n")
    #expect(try table.run("append", "s", "é").text == "4\n")
    #expect(try handle.get("s", as: String.self) == "abé")
    #expect(try table.run("append", "s", "-", input: [0xff]).status == 10)
    try handle.set("b", [1, 2] as [UInt8])
    #expect(try table.run("append", "b", "-", input: [0xff]).text == "3\n")
    #expect(try handle.bytes(forKey: "b") == [1, 2, 0xff])
    try handle.set("i", 1)
    #expect(try table.run("append", "i", "2").status == 10)
    // As a line of others too.
    for line in [#"append s \xff"#, "append i 2"] {
      let run = try table.run("batch", input: Array("\(line)\n".utf8))
      #expect(run.status == 10 && run.errors.contains("line 1: the value of '"), "\(run.errors)")
    }
    #expect(try handle.get("s", as: String.self) == "abé")
    #expect(try handle.get("i", as: Int.self) == 1)
  }

  /// A wait for the disk that fails does not take the old value away.
  @Test func theOldValueIsPrintedBeforeTheWaitForTheDisk() throws {
    let table = try TestTable()
    try table.open().set("k", "old")
    let run = try table.run("set", "k", "new", "--get", "--sync")
    #expect(run.status == 11 && run.text == "old", "\(run.status) \(run.text) \(run.errors)")
    #expect(try table.open().get("k") == "new")
  }

  @Test func getdelTakesAKeyOnce() throws {
    let table = try TestTable()
    try table.open().set("k", "v")
    let first = try table.run("getdel", "k")
    #expect(first.status == 0 && first.text == "v")
    let second = try table.run("getdel", "k", "none")
    #expect(second.status == 1 && second.text == "\n\n")
  }

  @Test func editStoresWhatWasSavedUnlessTheValueChangedMeanwhile() throws {
    let table = try TestTable()
    let handle = try table.open()
    let edit = { (editor: String, key: String) in
      try CommandRun(["-t", table.name, "edit", key], environment: ["EDITOR": editor, "VISUAL": "", "TMPDIR": "/tmp"])
    }
    try handle.set("k", 5, expires: .after(.seconds(3600)))
    #expect(try edit("sed -i s/5/6/", "k").status == 0)
    #expect(try handle.get("k", as: Int.self) == 6)
    #expect(try handle.entry(forKey: "k")?.expiry != nil)
    let unchanged = try edit("true", "k")
    #expect(unchanged.status == 0 && unchanged.errors.contains("is as it was; nothing was stored"))
    #expect(try edit("false", "k").status == 11)
    // A new key, and the newline that an editor adds.
    #expect(try edit("echo new >", "n").status == 0)
    #expect(try handle.get("n", as: String.self) == "new")
    for (editor, status) in [
      ("sed -i s/6/six/", Int32(2)), ("\(CommandRun.path) -t \(table.name) set k 7 --persist --int; echo 8 >", 1),
    ] {
      let run = try edit(editor, "k")
      #expect(run.status == status, "\(run.errors)")
      let path = try #require(run.errors.firstMatch(of: /kept in (\S+)/)?.output.1)
      #expect(FileManager.default.fileExists(atPath: String(path)))
      try FileManager.default.removeItem(atPath: String(path))
    }
    #expect(try handle.get("k", as: Int.self) == 7)
    let late = try CommandRun(
      ["-t", table.name, "edit", "k", "--json"],
      environment: [
        "EDITOR": "\(CommandRun.path) -t \(table.name) set k 8 --int; echo 9 >", "VISUAL": "", "TMPDIR": "/tmp",
      ])
    #expect(late.status == 1 && late.text == "{\"key\":\"k\",\"stored\":false}\n", "\(late)")
    let path = try #require(late.errors.firstMatch(of: /kept in (\S+)/)?.output.1)
    try FileManager.default.removeItem(atPath: String(path))
  }

  /// What was saved is nowhere else. A file that nobody has changed is of no use.
  @Test func editKeepsWhatWasSavedThoughTheEditorFails() throws {
    let table = try TestTable(Table.Options(capacityBytes: 1 << 20))
    try table.open().set("k", "old")
    let folder = try Scratch()
    let edit = { (editor: String) in
      try CommandRun(
        ["-t", table.name, "edit", "k"], environment: ["EDITOR": editor, "VISUAL": "", "TMPDIR": folder.file("")])
    }
    // Longer than a value may be: read no further than that.
    for (editor, status, count) in [
      ("sh -c 'printf newer >\"$1\"; exit 1' x", Int32(11), 5),
      ("head -c 2000000 /dev/zero >", Int32(6), 2_000_000),
    ] {
      let run = try edit(editor)
      #expect(run.status == status, "\(run.errors)")
      let path = String(try #require(run.errors.firstMatch(of: /text is kept in (\S+)/)?.output.1, "\(run.errors)"))
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == count)
      try FileManager.default.removeItem(atPath: path)
    }
    for editor in ["false", "rm"] { #expect(!(try edit(editor)).errors.contains("is kept")) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("")) == [])
    #expect(try table.open().get("k", as: String.self) == "old")
  }

  @Test func editLeavesNothingOnADiskThatIsFull() throws {
    let table = try TestTable()
    try table.open().set("k", "secret")
    let folder = try Scratch()
    let run = try CommandRun(
      shell: "(trap '' XFSZ; ulimit -f 0; exec \"$SHMCTL\" -t \(table.name) edit k) 2>&1 | cat",
      environment: ["EDITOR": "true", "VISUAL": "", "TMPDIR": folder.file("")])
    #expect(run.text.contains("cannot write '\(folder.file(""))/shmctl-edit."), "\(run.text)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("")).isEmpty)
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be a user who may only read"))
  func noEditorIsStartedWhereNothingCouldBeStored() throws {
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o644))
    try table.open().set("k", "v")
    let run = try CommandRun(
      ["-t", table.name, "edit", "k"], environment: ["EDITOR": "echo started; :", "VISUAL": ""], user: stranger)
    #expect(run.status == 4 && run.text.isEmpty && run.errors.contains("may only read"), "\(run.text)\(run.errors)")
  }
}

struct Point: SharedStruct, Equatable {
  static let schemaName = "shmctl-test.point"
  var x: Int64
  var y: Int64
}
