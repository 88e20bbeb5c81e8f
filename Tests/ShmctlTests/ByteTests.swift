import Testing

@Suite struct ByteTests {
  @Test func valuesRoundTripByteByByteThroughStandardInput() throws {
    let table = try TestTable()
    let bytes = [0, 255, 10, 0] + (0...255).map { UInt8($0) } + [13, 10]
    #expect(try table.run("set", "k", "-", input: bytes).status == 0)
    #expect(try table.run("get", "k").output == bytes)
    #expect(try table.open().entry(forKey: "k")?.type == .bytes)
  }

  @Test func aLongValueRoundTrips() throws {
    let table = try TestTable()
    let bytes = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    #expect(try table.run("set", "k", "-", input: bytes).status == 0)
    #expect(try table.run("get", "k").output == bytes)
  }

  @Test func anEmptyValueIsAValue() throws {
    let table = try TestTable()
    #expect(try table.run("set", "k", "").status == 0)
    let run = try table.run("get", "k")
    #expect(run.status == 0 && run.output.isEmpty)
    #expect(try table.run("set", "k", "-", input: []).status == 0)
    #expect(try table.open().entry(forKey: "k")?.bytes == [])
  }

  @Test func argumentsThatAreNoUTF8AreTakenAsTheyAre() throws {
    let table = try TestTable()
    // The second key is what a repaired first one would become; the third is in the range that carries raw bytes.
    let run = try CommandRun(
      shell: #"""
        k=$(printf 'k\377\376'); r=$(printf 'k\357\277\275\357\277\275'); p=$(printf '\364\217\277\277')
        "$SHMCTL" -t "$T" set "$k" "$(printf 'v\200')" && "$SHMCTL" -t "$T" set "$r" repaired &&
        "$SHMCTL" -t "$T" set "$p" private && "$SHMCTL" -t "$T" get "$k" && "$SHMCTL" -t "$T" get "$p"
        """#, environment: ["T": table.name])
    #expect(run.status == 0)
    #expect(run.output == [0x76, 0x80] + Array("private".utf8))
    #expect(try table.open().bytes(forKey: [0x6b, 0xff, 0xfe]) == [0x76, 0x80])
    #expect(try table.open().get("k\u{fffd}\u{fffd}", as: String.self) == "repaired")
    #expect(try table.open().get("\u{10ffff}", as: String.self) == "private")
  }

  @Test func aValueThatBeginsWithADashComesAfterADoubleDash() throws {
    let table = try TestTable()
    #expect(try table.run("set", "k", "--value").status == 2)
    #expect(try table.run("set", "k", "--", "--value").status == 0)
    #expect(try table.run("get", "k").text == "--value")
    // Unless it is a number.
    #expect(try table.run("set", "n", "-1.5").status == 0)
    #expect(try table.run("get", "n").text == "-1.5")
  }

  @Test func standardInputLargerThanTheTableTakesIsRefusedWithoutReadingItAll() throws {
    let table = try TestTable()
    let run = try CommandRun(shell: #""$SHMCTL" -t "$T" set k - </dev/zero"#, environment: ["T": table.name])
    #expect(run.status == 6)
    #expect(run.errors.hasPrefix("shmctl: table '\(table.name)': standard input has more than"))
    #expect(try table.open().count == 0)
  }

  @Test func aValueIsRawInAPipeAndEscapedWithItsTypeOnATerminal() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.set("k", "v\"\u{1b}[2J")
    try handle.set("n", 5)
    #expect(try table.run("get", "k").text == "v\"\u{1b}[2J")
    let onTerminal = { (arguments: String) in
      try CommandRun(
        shell: #"script -qec "$SHMCTL -t $T get $A" /dev/null </dev/null"#,
        environment: ["T": table.name, "A": arguments])
    }
    #expect(try onTerminal("k").text == #""v\"\x1b[2J""# + "\r\n")
    #expect(try onTerminal("-q n none").text == "(integer) 5\r\n(none)\r\n")
    #expect(try onTerminal("--raw n").text == "5")
  }

  @Test func keysOnATerminalCannotCommandIt() throws {
    let table = try TestTable()
    try table.open().set("a\u{1b}[2J", 1)
    #expect(try table.run("ls").text == "a\u{1b}[2J\n")
    let run = try CommandRun(
      shell: #"script -qec "$SHMCTL -t $T ls" /dev/null </dev/null"#, environment: ["T": table.name])
    #expect(run.text == "a\\x1b[2J\r\n")
    #expect(try table.run("get", "b\u{1b}").errors.contains(#"no key 'b\x1b'"#))
  }

  @Test func aClosedStandardOutputIsAnErrorAndNeverTheTable() throws {
    let table = try TestTable()
    try table.open().set("k", "v")
    let run = try CommandRun(shell: #""$SHMCTL" -t "$T" get k >&-"#, environment: ["T": table.name])
    #expect(run.status == 11)
    #expect(run.errors.hasPrefix("shmctl: cannot write the output"))
    #expect(try table.run("get", "k").text == "v")
    let full = try CommandRun(shell: #""$SHMCTL" -t "$T" get k >/dev/full"#, environment: ["T": table.name])
    #expect(full.status == 11)
  }

  @Test func aReaderThatGoesAwayEndsTheCommandQuietly() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.barrier { tx in for index in 0..<9000 { try tx.set("a-rather-long-key-\(index)", index) } }
    // With SIGPIPE at its default, and ignored.
    for trap in ["", "trap '' PIPE; "] {
      let run = try CommandRun(
        shell: trap + #"{ "$SHMCTL" -t "$T" ls; echo $? >&2; } | head -n 1 >/dev/null"#,
        environment: ["T": table.name])
      #expect(run.errors == "141\n")
    }
  }
}
