import Foundation
import SharedTable
import TestSupport
import Testing

/// What `set` stores, and what it asks for.
@Suite struct SetTests {
  @Test func aTypeIsSaidInAWord() throws {
    let table = try TestTable()
    for (flag, value, type) in [
      ("--int", "5", "integer"), ("--double", "1", "double"), ("--bool", "true", "bool"), ("--json", "[1]", "json"),
      ("--string", "5", "string"), ("--bytes", "5", "bytes"), ("--json-value", "{}", "json"),
    ] {
      #expect(try table.run("set", flag, "k", value).status == 0, "\(flag)")
      #expect(try table.open().entry(forKey: "k")?.type?.name == type)
      #expect(try table.run("type", "k").text == "\(type)\n")
    }
    #expect(try table.run("set", "k", "1", "--int", "--bool").status == 2)
    #expect(try table.run("set", "k", "1", "--int", "--type", "json").status == 2)
    // Before the command's name --json is about the output.
    #expect(try table.run("--json", "set", "k", "no json").text == #"{"key":"k","stored":true}"# + "\n")
    #expect(try table.run("set", "k", "no json", "--json").status == 2)
  }

  /// The value is in the table, and whoever runs the command again would store it twice.
  @Test func aTableThatIsDroppedDuringTheWaitForTheDiskIsNoMissingTable() throws {
    let table = try TestTable()
    do { try table.open().segment.setKeeping(.kept) }
    let set = try WorkerProcess(
      CommandRun.path, ["-t", table.name, "--timeout", "60s", "set", "k", "v", "--sync"], timeoutSeconds: 100)
    try set.waitUntilAsleep(in: .futex)
    try Table.drop(table.name)
    #expect(try set.wait() == .code(11))
    #expect(set.standardError.contains("it is in the table, and not known to be on the disk"), "\(set.standardError)")
  }

  @Test func aWrongTypeNamesTheTypesThatThereAre() throws {
    let run = try TestTable().run("set", "k", "1", "--type", "blob")
    #expect(run.status == 2)
    #expect(run.errors.contains("string, bytes, integer, double, bool, json; "), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test(arguments: ["1e400", "-1e400", "1e999999999"])
  func aNumberThatDoesNotFitIsNoInfinity(value: String) throws {
    let table = try TestTable()
    let run = try table.run("set", "k", value, "--double")
    #expect(run.status == 2)
    #expect(run.errors.contains("does not fit into a double; "))
    #expect(try !table.open().contains("k"))
    #expect(try table.run("set", "k", "--double", "--", value.hasPrefix("-") ? "-inf" : "inf").status == 0)
  }

  @Test(arguments: [#""\ud800""#, #"{"a":"\udc00"}"#, #""\ud800x""#, #""\ud800\u0041""#, #"["\udfff\ud800"]"#])
  func halfASurrogatePairIsNoJSON(value: String) throws {
    let table = try TestTable()
    #expect(try table.run("set", "k", value, "--json").status == 2)
    // What another program stored does not break the line of who reads it.
    try table.open().set("k", bytes: Array(value.utf8), type: .json)
    let object = try #require(try table.run("get", "k", "--json").objects.first ?? nil)
    #expect(object["valueBase64"] as? String == Data(value.utf8).base64EncodedString())
    #expect(try table.run("set", "k", #""\ud83d\ude00""#, "--json").status == 0)
  }

  @Test func aDashBehindADoubleDashIsAValue() throws {
    let table = try TestTable()
    #expect(try table.run("set", "k", "--", "-", input: Array("input".utf8)).status == 0)
    #expect(try table.run("get", "k").text == "-")
    #expect(try table.run("set", "--", "k", "-").status == 0)
    #expect(try table.run("set", "k", "-", input: Array("input".utf8)).status == 0)
    #expect(try table.run("get", "k").text == "input")
  }

  @Test func aLostTypeIsSaid() throws {
    let table = try TestTable()
    for (flag, value) in [("--int", "1"), ("--double", "1.5"), ("--bool", "true")] {
      #expect(try table.run("set", "k", value, flag).errors == "")
      #expect(try table.run("set", "k", value, flag).errors == "", "the type stays")
      let lost = try table.run("set", "k", value)
      #expect(lost.status == 0)
      #expect(
        lost.errors.contains("no more, as programs may expect; \(flag) stores a value of that type"), "\(lost.errors)")
      #expect(try table.run("set", "k", value).errors == "", "it is a string already")
      #expect(try table.run("del", "k").status == 0)
    }
    #expect(try table.run("set", "k", "1", "--int").status == 0)
    #expect(try table.run("set", "k", "text", "--string").errors == "", "asked for")
  }

  @Test func aLostTimeToLiveIsSaidAndCanBeKept() throws {
    let table = try TestTable()
    #expect(try table.run("set", "k", "1", "--ttl", "1h").status == 0)
    let expiry = try #require(try table.open().entry(forKey: "k")?.expiry)
    let kept = try table.run("set", "k", "2", "--keep-ttl")
    #expect(kept.status == 0 && kept.errors == "")
    #expect(try table.open().entry(forKey: "k")?.expiry == expiry)
    let lost = try table.run("set", "k", "3")
    #expect(lost.status == 0)
    #expect(lost.errors.contains("key 'k' has lost its time to live; --keep-ttl keeps it, --persist says"))
    #expect(try table.open().entry(forKey: "k")?.expiry == nil)
    #expect(try table.run("set", "k", "4").errors == "")
    try table.run("set", "k", "5", "--ttl", "1h")
    #expect(try table.run("set", "k", "6", "--persist").errors == "")
    #expect(try table.run("set", "k", "7", "--ttl", "1h", "--keep-ttl").status == 2)
  }

  @Test func getPrintsTheValueBefore() throws {
    let table = try TestTable()
    #expect(try table.run("set", "k", "1", "--get").text == "")
    #expect(try table.run("set", "k", "2", "--get").text == "1")
    #expect(try table.run("set", "k", "3", "--get", "--if-absent").text == "2")
    let object = try #require(try table.run("--json", "set", "k", "3", "--get").objects.first ?? nil)
    #expect((object["old"] as? [String: Any])?["value"] as? String == "2")
  }

  @Test func aFileIsAValueAndGetWritesOne() throws {
    let table = try TestTable()
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("shmctl-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: directory) }
    let (input, output) = (directory.appendingPathComponent("in"), directory.appendingPathComponent("out"))
    let bytes: [UInt8] = [0, 1, 10, 255]
    try Data(bytes).write(to: input)
    #expect(try table.run("set", "k", "--file", input.path).status == 0)
    #expect(try table.run("set", "k", "v", "--file", input.path).status == 2)
    #expect(try table.run("set", "i", "--file", "-", input: Array("in".utf8)).status == 0)
    #expect(try table.run("get", "i").text == "in")
    #expect(try table.run("set", "j", "--file", directory.path + "/none").status == 11)
    try Data("old".utf8).write(to: output)
    // A key that is not there leaves the file as it is.
    #expect(try table.run("get", "-q", "none", "-o", output.path).status == 1)
    #expect(try Data(contentsOf: output) == Data("old".utf8))
    #expect(try table.run("get", "k", "--output", output.path).status == 0)
    #expect(try [UInt8](Data(contentsOf: output)) == bytes)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["in", "out"])
    #expect(try table.run("get", "k", "-o", directory.path + "/none/out").status == 11)
    #expect(try table.run("get", "k", "-o", "/dev/stdout").output == bytes)
  }

  @Test func aDashAndTheNameOfADescriptorAreThatOutput() throws {
    let table = try TestTable()
    try table.open().set("k", "value")
    let folder = try Scratch()
    for (output, text) in [("-", "head\nvalue"), ("/dev/stdout", "head\nvalue"), ("/dev/fd/1", "head\nvalue")] {
      // Standard output is a file here, in which something stands already.
      let run = try CommandRun(
        shell: "cd \(folder.file("")); echo head; exec \"$SHMCTL\" -t \(table.name) get -o \(output) k")
      #expect(run.text == text && run.status == 0, "\(output): \(run.text) \(run.errors)")
    }
    let picture = try CommandRun(
      shell: "cd \(folder.file("")); exec \"$SHMCTL\" -t \(table.name) plot latency --over 100ms --svg -")
    #expect(picture.text.hasPrefix("<svg "))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("")).isEmpty)
    #expect(try table.run("get", "k", "-o", "/dev/fd/77").status == 11)
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func aFileThatIsReplacedStaysItsOwners() throws {
    let stranger = try #require(stranger)
    let table = try TestTable()
    try table.open().set("k", "value")
    let file = try Scratch()
    try Data("old".utf8).write(to: URL(fileURLWithPath: file.path))
    try FileManager.default.setAttributes(
      [.ownerAccountID: stranger, .groupOwnerAccountID: stranger, .posixPermissions: 0o640], ofItemAtPath: file.path)
    #expect(try table.run("get", "k", "-o", file.path).status == 0)
    #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "value")
    #expect(try CommandRun(shell: "stat -c '%u %g %a' \(file.path)").text == "\(stranger) \(stranger) 640\n")
  }

  /// In a directory where everybody may make files, somebody else's file would get the value and stay that user's.
  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func aStrangersFileInASharedDirectoryIsNotReplaced() throws {
    let stranger = try #require(stranger)
    let table = try TestTable()
    try table.open().set("k", "value")
    let folder = try Scratch()
    let file = folder.file("laid")
    try Data("old".utf8).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.ownerAccountID: stranger], ofItemAtPath: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: folder.file(""))
    let refused = try table.run("get", "k", "-o", file)
    #expect(refused.status == 11 && refused.errors.contains("belongs to user \(stranger)"), "\(refused.errors)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "old")
    // The directory's owner may have put its own files there.
    try FileManager.default.setAttributes([.ownerAccountID: stranger], ofItemAtPath: folder.file(""))
    #expect(try table.run("get", "k", "-o", file).status == 0)
  }

  /// Of links that the kernel does not follow this is the one that can be had everywhere.
  @Test func aLinkThatLeadsNowhereIsNotFollowedByHand() throws {
    let table = try TestTable()
    try table.open().set("k", "value")
    let folder = try Scratch()
    let link = folder.file("loop")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "loop")
    let run = try table.run("get", "k", "-o", link)
    #expect(run.status == 11 && run.errors.contains("cannot open"), "\(run.errors)")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "loop")
  }

  @Test func whatAKilledProcessOfTheSameNumberLeftIsNotInTheWay() throws {
    let table = try TestTable()
    try table.open().set("k", "value")
    let folder = try Scratch()
    let run = try CommandRun(
      shell: "cd \(folder.file("")); : >out.$$.tmp; exec \"$SHMCTL\" -t \(table.name) get -o out k")
    #expect(run.status == 0, "\(run.errors)")
    #expect(try String(contentsOfFile: folder.file("out"), encoding: .utf8) == "value")
  }
}
