import SharedTable
import Testing

@Suite struct BatchTests {
  @Test func operationsOneALine() throws {
    let table = try TestTable()
    let run = try table.run(
      "batch", "--results",
      input: Array(
        """
        # a comment, then an empty line

        set a hello
        set "b c" "two words" ttl=1h
        set n 5 type=integer
        incr n -7
        incr new
        append a \\sworld\\n
        set a other if=absent
        rename new renamed
        expire a 30s
        persist a
        del nothing
        check n value=-2
        """.utf8))
    #expect(run.text == "done\ndone\ndone\n-2\n1\ndone\nunmet\ndone\ndone\ndone\nunmet\ndone\n")
    #expect(run.status == 1 && run.errors.isEmpty)
    let handle = try table.open()
    #expect(try handle.get("a", as: String.self) == "hello world\n")
    #expect(try handle.entry(forKey: "a")?.expiry == nil)
    #expect(try handle.entry(forKey: "b c")?.expiry != nil)
    #expect(try handle.get("renamed", as: Int.self) == 1 && !handle.contains("new"))
  }

  @Test(arguments: [false, true])
  func everyByteOfKeysAndValuesHasASpelling(quoted: Bool) throws {
    let table = try TestTable()
    var input: [UInt8] = []
    for byte in UInt8.min...UInt8.max {
      let spelled = Array(("\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)).utf8)
      let raw =
        [0x0a, 0x5c, 0x22, 0x23].contains(byte) || !quoted && [0x09, 0x0d, 0x20].contains(byte) ? spelled : [byte]
      let quote: [UInt8] = quoted ? [0x22] : []
      input += Array("set ".utf8) + quote + spelled + raw + quote + [0x20] + quote + raw + [0x2e] + quote + [0x0a]
    }
    #expect(try table.run("batch", input: input).text == "256 operations done\n")
    let handle = try table.open()
    for byte in UInt8.min...UInt8.max { #expect(try handle.bytes(forKey: [byte, byte]) == [byte, 0x2e], "\(byte)") }
    // What `watch` spells, `batch` reads: the same from the log.
    let spelled = try table.run("watch", "--prefix", "", "--from", "1", "--count", "256")
    let again = try TestTable()
    let lines = spelled.text.split(separator: "\n").map { $0.drop { $0 != " " }.dropFirst() }
    #expect(lines.count == 256)
    #expect(try again.run("batch", input: Array(lines.joined(separator: "\n").utf8)).text == "256 operations done\n")
    for byte in UInt8.min...UInt8.max {
      #expect(try again.open().bytes(forKey: [byte, byte]) == [byte, 0x2e], "\(byte)")
    }
  }

  @Test func aFailingLineIsNamedAndEarlierLinesAreDone() throws {
    for (line, status, message) in [
      ("sett b 2", 2, "no operation 'sett'"), ("set b", 2, "the value is missing"), ("incr a", 10, "a"),
      ("set b \"x", 2, "is not closed"), ("set b \\q", 2, "no escape in column"),
      ("expire a 0", 2, "more than nothing"),
      ("del a b", 2, "too many words"), ("set \"\" x", 2, "a key of 1 byte"),
    ] as [(String, Int32, String)] {
      let table = try TestTable()
      let run = try table.run("batch", input: Array("set a x\n\n\(line)\nset c 3\n".utf8))
      #expect(run.status == status, "\(line): \(run.errors)")
      #expect(run.errors.contains("standard input, line 3: ") && run.errors.contains(message), "\(run.errors)")
      #expect(try table.open().read { view in try view.keys() } == [Array("a".utf8)])
    }
  }

  @Test func aGroupThatGetsNoBarrierIsNamedByItsFirstLine() throws {
    let table = try TestTable()
    let run = try table.open().barrier { _ in
      try table.run("batch", "--timeout", "50ms", input: Array("# first\n\nset a x\nset b 2\n".utf8))
    }
    #expect(run.status == 7, "\(run.errors)")
    #expect(run.errors.hasPrefix("shmctl: standard input, line 3: timed out waiting (held by "), "\(run.errors)")
    #expect(run.errors.contains("; what stands before it is done"), "\(run.errors)")
  }

  /// Its lines are kept until the last one is there, and input may have no end.
  @Test func aTransactionOfMoreThanATableHoldsIsRefusedInTime() throws {
    let table = try TestTable(Table.Options(capacityBytes: 1 << 20))
    let line = Array("append a \(String(repeating: "x", count: 1100))\n".utf8)
    let lines = Array(repeatElement(line, count: 60_000).joined())
    let run = try table.run("transaction", input: lines)
    #expect(run.status == 5 && run.errors.contains("nothing was changed"), "\(run.status) \(run.errors)")
    #expect(try table.open().count == 0)
  }

  @Test func aTransactionIsAllOrNothing() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.set("a", 100)
    let good = "check a value=100\nincr a -10\nincr b 10\n"
    #expect(try table.run("transaction", input: Array(good.utf8)).text == "3 operations done\n")
    // The same again: the condition is not met any more.
    let unmet = try table.run("transaction", input: Array(good.utf8))
    #expect(unmet.status == 1 && unmet.errors.contains("line 1: ") && unmet.errors.contains("nothing was changed"))
    #expect(unmet.text.isEmpty)
    let object = try table.run(
      "transaction", "--json", input: Array(#"{"op":"set","key":"a","value":"x","if":"absent"}"#.utf8))
    #expect(object.status == 1 && object.text == "{\"table\":\"\(table.name)\",\"done\":0,\"unmet\":1}\n", "\(object)")
    for bad in ["incr b 1\nincr a x\n", "incr b 1\ndel nothing\n", "incr b 1\nset s text\nincr s\n"] {
      #expect(try table.run("batch", "--atomic", input: Array(bad.utf8)).status != 0)
    }
    #expect(try handle.get("a", as: Int.self) == 90)
    #expect(try handle.get("b", as: Int.self) == 10 && !handle.contains("s"))
  }

  @Test func objectsOneALine() throws {
    let table = try TestTable()
    let run = try table.run(
      "batch", "--json", "--results",
      input: Array(
        #"""
        {"op":"set","key":"a","value":1,"ttlMilliseconds":60000}
        {"op":"set","keyBase64":"/w==","valueBase64":"AAE="}
        {"op":"incr","key":"a","amount":-3}
        {"op":"set","key":"a","value":"x","if":"absent"}
        {"op":"rename","key":"a","to":"b"}
        {"op":"check","key":"b","ifValue":"-2"}
        {"op":"set","key":"j","value":{"x":[1]}}
        """#.utf8))
    let (done, unmet) = (#"{"outcome":"done"}"#, #"{"outcome":"unmet"}"#)
    let lines = [done, done, #"{"outcome":"done","value":-2}"#, unmet, done, done, done]
    #expect(run.text == lines.map { $0 + "\n" }.joined())
    #expect(try table.open().bytes(forKey: [0xff]) == [0, 1])
    #expect(try table.open().entry(forKey: "b")?.expiry != nil)
    #expect(try table.open().entry(forKey: "j")?.type == .json)
    for line in [
      #"{"op":"set","key":"a","value":1,"tll":5}"#, #"{"op":"del"}"#, #"{"op":"set","key":"a"}"#, #"["op"]"#,
      #"{"op":"set","key":"a","value":"\ud800"}"#, #"{"op":"set","key":"a","value":1e400}"#,
    ] {
      let run = try table.run("batch", "--json", input: Array("{\"op\":\"incr\",\"key\":\"k\"}\n\(line)\n".utf8))
      #expect(run.status == 2 && run.errors.contains("line 2: "), "\(line): \(run.errors)")
    }
  }

  /// What `get --json` prints of a json value is that value, a string of JSON too.
  @Test(
    arguments: ["batch", "transaction"], [#""hello""#, #"{"a":[1,null]}"#, "null", "1e400", #""a\"\\\u0001""#, "true"])
  func aJSONValueIsWhatGetPrintsOfIt(command: String, value: String) throws {
    let table = try TestTable()
    #expect(try table.run("set", "a", value, "--json").status == 0)
    let printed = try table.run("get", "a", "--json").text
    let line = try #require(printed.firstMatch(of: /"type":"json","value":.*(?=,"version")/)?.output)
    let stored = try table.run(command, "--json", input: Array(#"{"op":"set","key":"b",\#(line)}"#.utf8))
    #expect(stored.status == 0, "\(stored.errors)")
    #expect(try table.run("get", "b", "--json").text.contains(line), "\(printed)")
    #expect(try table.open().entry(forKey: "b")?.type == .json)
  }

  @Test func valuesThatAreNotOfTheirTypeAreRefused() throws {
    let table = try TestTable()
    for line in [
      #"{"op":"set","key":"a","type":"json","valueBase64":"eyI="}"#,
      #"{"op":"set","key":"a","type":"string","valueBase64":"/w=="}"#,
    ] {
      let run = try table.run("batch", "--json", input: Array(line.utf8))
      #expect(run.status == 2 && run.errors.contains("line 1: the value is not valid "), "\(line): \(run.errors)")
    }
    #expect(try table.open().count == 0)
    let good = #"{"op":"set","key":"a","type":"json","valueBase64":"eyJhIjoxfQ=="}"#
    #expect(try table.run("batch", "--json", input: Array(good.utf8)).status == 0)
    #expect(try table.run("get", "a").text == #"{"a":1}"#)
  }

  @Test func manyOperationsAndMoreThanOneBarrierHolds() throws {
    let table = try TestTable(Table.Options(capacityBytes: 32 << 20))
    let lines = (0..<30_000).map { "set key-\($0) \($0)\n" }.joined()
    #expect(try table.run("batch", input: Array(lines.utf8)).text == "30000 operations done\n")
    #expect(try table.open().count == 30_000)
    let small = try TestTable(Table.Options(capacityBytes: 1 << 20))
    let full = try small.run("batch", input: Array(lines.utf8))
    #expect(full.status == 5 && full.errors.contains("what stands before it is done"))
    let line = full.errors.split(separator: " ").compactMap { Int($0.dropLast()) }.first ?? 0
    #expect(try small.open().count == line - 1)
  }

  @Test func whatHasComeIsCommittedThoughMoreMayFollow() throws {
    let table = try TestTable()
    let run = try CommandRun(
      shell: #"""
        { echo 'set first 1'; "$SHMCTL" -t "$T" wait first --timeout 60s; echo; echo 'set second 2'; } |
        sed -u '2d' | "$SHMCTL" -t "$T" batch
        """#, environment: ["T": table.name])
    #expect(run.text == "2 operations done\n")
  }
}
