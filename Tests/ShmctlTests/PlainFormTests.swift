import Foundation
import SharedTable
import Testing

@Suite struct PlainFormTests {
  private static func varied(_ table: Table) throws {
    try table.set("text", "a, \"b\"\r\nc $d `e` \\ # 'f'")
    try table.set("empty", "")
    try table.set("NAME_1", " spaces ")
    try table.set("integer", -5)
    try table.set("double", 2.5)
    try table.set("bool", true)
    try table.set("ends", "x", expires: .at(nanosecondsSince1970: 7_258_118_400_000_000_000))
    try table.set("json", bytes: Array(#"{"a":1}"#.utf8), type: .json)
  }

  @Test func csvRoundTripsEveryByte() throws {
    let (source, target) = (try TestTable(), try TestTable())
    let table = try source.open()
    try Self.varied(table)
    for byte in UInt8.min...UInt8.max { try table.set([0x6b, byte], [byte] as [UInt8]) }
    let csv = try source.run("export", "csv")
    #expect(csv.status == 0 && csv.text.hasPrefix("key,value,type,expiryMilliseconds,encoding\r\n"))
    let run = try target.run("import", "csv", input: csv.output)
    #expect(run.text == "264 records applied\n", "\(run.errors)")
    #expect(try CommandRun(["diff", source.name, target.name]).text == "")
  }

  @Test func envRoundTripsWhatItCanHoldAndShellsReadIt() throws {
    let (source, target) = (try TestTable(), try TestTable())
    try Self.varied(source.open())
    try source.open().set("not-a-name", 1)
    let file = try Scratch()
    let run = try source.run("export", "env", "-o", file.path)
    #expect(run.status == 0 && run.errors.contains("1 key left out"))
    #expect(try target.run("import", "env", file.path).text == "8 records applied\n")
    #expect(try target.open().bytes(forKey: "text") == source.open().bytes(forKey: "text"))
    #expect(try CommandRun(shell: ". \(file.path); echo \"$NAME_1|$integer\"").text == " spaces |-5\n")
    #expect(try CommandRun(shell: ". \(file.path); printf %s \"$text\"").output == source.open().bytes(forKey: "text"))
    let text = "# comment\n\nexport A=plain # comment\nB='single $x \\n' # c\n C = \nD=\"a\\nb\\\"\"\nE=a#b\n"
    let wrong = try target.run("import", "env", input: Array(text.utf8))
    #expect(wrong.status == 2 && wrong.errors.contains("line 5: NAME=value is expected"))
    #expect(try target.run("import", "env", input: Array(text.replacing(" C = ", with: "C=").utf8)).status == 0)
    let table = try target.open()
    for (name, value) in ["A": "plain", "B": "single $x \\n", "C": "", "D": "a\nb\"", "E": "a#b"] {
      #expect(try table.get(name, as: String.self) == value)
    }
  }

  @Test func aQuotedValueOfAnEnvFileMayHaveSeveralLines() throws {
    let target = try TestTable()
    let text = "A=\"x\\ny\nz\" # c\r\nB='p\n\n \\n'\r\nexport C=\"\r\n\"\n"
    #expect(try target.run("import", "env", input: Array(text.utf8)).text == "3 records applied\n")
    let table = try target.open()
    for (name, value) in ["A": "x\ny\nz", "B": "p\n\n \\n", "C": "\r\n"] {
      #expect(try table.get(name, as: String.self) == value)
    }
    for (text, message) in [
      ("A=\"x\ny\"\n1B=2\n", "line 3: NAME=value"), ("A=\"x\ny\" z\n", "line 1: nothing but a comment"),
      ("A=1\n\nB='x\ny\n", "line 3: the quote is not closed"),
    ] {
      let run = try target.run("import", "env", input: Array(text.utf8))
      #expect(run.status == 2 && run.errors.contains(message), "\(text): \(run.errors)")
    }
  }

  @Test func anyExpiryComesBack() throws {
    let (source, target) = (try TestTable(), try TestTable())
    // In the year 2286, and as late as there is.
    for (key, expiry) in [("a", UInt64(10_000_000_000_000_000_000)), ("b", .max)] {
      try source.open().set(key, "x", expires: .at(nanosecondsSince1970: expiry))
    }
    for form in ["csv", "resp"] {
      let run = try target.run("import", form, input: try source.run("export", form).output)
      #expect(run.text == "2 records applied\n", "\(run.errors)")
      for key in ["a", "b"] {
        let expiry = try #require(try source.open().entry(forKey: key)?.expiry)
        #expect(try target.open().entry(forKey: key)?.expiry == expiry / 1_000_000 * 1_000_000)
      }
    }
    for option in ["EX", "PX", "EXAT", "PXAT"] {
      let words = ["SET", "a", "b", option, "18446744073709551615"]
      let set = "*5\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
      #expect(try target.run("import", "resp", input: Array(set.utf8)).status == 2)
    }
  }

  @Test func theMarkOfUTF8BeforeTheFirstLineIsNoPartOfIt() throws {
    let target = try TestTable()
    let mark = "\u{feff}"
    #expect(try target.run("import", "csv", input: Array("\(mark)key,value\r\na,b\r\n".utf8)).status == 0)
    #expect(try target.run("import", "env", input: Array("\(mark)C=d\n".utf8)).status == 0)
    #expect(try target.open().get("a", as: String.self) == "b")
    #expect(try target.open().get("C", as: String.self) == "d")
  }

  @Test func whatTheTableCannotTakeIsSaidBeforeAnythingIsStored() throws {
    let table = try TestTable()
    let longest = try table.open().maximumValueLength
    let csv = "key,value\na,b\nlong,\(String(repeating: "x", count: longest + 1))\n"
    let run = try table.run("import", "csv", input: Array(csv.utf8))
    #expect(run.status == 6 && run.errors.contains("'long'"), "\(run.errors)")
    #expect(run.errors.contains("nothing was changed"))
    #expect(try table.open().count == 0)
    // How much has room is known only when it is full.
    let small = try TestTable(Table.Options(capacityBytes: 1 << 20))
    let many = "key,value\n" + (0..<30_000).map { "key-\($0),some value\n" }.joined()
    let full = try small.run("import", "csv", input: Array(many.utf8))
    let count = try #require(full.errors.firstMatch(of: /; ([0-9]+) records are stored/)?.1)
    #expect(full.status == 5)
    #expect(try Int(count) == small.open().count)
  }

  @Test func aFullDiskIsSaidOfTheFileThatItIsOf() throws {
    // A table of which one version can be had only while its writers wait is written to $TMPDIR first.
    let table = try TestTable(Table.Options(variant: .rwlock, capacityBytes: 4 << 20))
    try table.open().set("k", "v")
    let folder = try Scratch()
    for (output, name) in [("", "the temporary file"), (" -o \(folder.path)", "'\(folder.path)'")] {
      let run = try CommandRun(
        shell: "(trap '' XFSZ; ulimit -f 0; exec \"$SHMCTL\" -t \(table.name) export csv\(output)) 2>&1 | cat")
      #expect(run.text.contains("cannot write \(name): "), "\(run.text)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("")).isEmpty)
  }

  @Test func respRoundTripsAndOtherCommandsAreRefused() throws {
    let (source, target) = (try TestTable(), try TestTable())
    try Self.varied(source.open())
    let resp = try source.run("export", "resp").output
    #expect(try target.run("import", "resp", input: resp).text == "8 records applied\n")
    let table = try target.open()
    #expect(try table.bytes(forKey: "text") == source.open().bytes(forKey: "text"))
    #expect(try table.entry(forKey: "ends")?.expiry == 7_258_118_400_000_000_000)
    let del = resp + Array("*2\r\n$3\r\nDEL\r\n$1\r\na\r\n".utf8)
    let refused = try target.run("import", "resp", input: del)
    #expect(refused.status == 2 && refused.errors.contains("at byte \(resp.count): 'DEL' is not SET"))
    #expect(try target.run("import", "resp", input: Array(resp.dropLast(3))).status == 2)
  }

  @Test func whatIsWrongIsNamedAndNothingIsStored() throws {
    let table = try TestTable()
    for (form, text, message) in [
      ("csv", "", "line 1: a first line"), ("csv", "key\na\n", "line 1: the columns"),
      ("csv", "key,value,kind\n", "'kind' is none of"), ("csv", "key,value\na,b\n\"c\nd\",e,f\n", "line 3: fields: 3"),
      ("csv", "key,value\na,b\n\"c,d\n", "line 3: a quote is not closed"),
      ("csv", "key,value,type\na,b,string\nc,d,integer\n", "line 3: the value is no decimal integer"),
      ("csv", "key,value,encoding\n*,b,base64\n", "line 2: no base64"),
      ("env", "A=1\n1B=2\n", "line 2: NAME=value"), ("env", "A=1\nB=\"x\n", "line 2: the quote is not closed"),
      ("resp", "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$99\r\nb\r\n", "at byte 20: a string"),
      ("resp", "SET a b\r\n", "at byte 0: * and a number"),
    ] {
      let run = try table.run("import", form, input: Array(text.utf8))
      #expect(run.status == 2 && run.errors.contains(message), "\(text): \(run.errors)")
      #expect(try table.open().count == 0)
    }
    #expect(try table.run("import", "xml").status == 2)
  }
}
