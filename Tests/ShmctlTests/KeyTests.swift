import SharedTable
import Testing

@Suite struct KeyTests {
  @Test func getPrintsWhatSetStored() throws {
    let table = try TestTable()
    #expect(try table.run("set", "greeting", "hello").status == 0)
    let run = try table.run("get", "greeting")
    #expect(run.status == 0)
    #expect(run.text == "hello")
    #expect(run.errors == "")
    #expect(try table.open().get("greeting", as: String.self) == "hello")
  }

  @Test func getOfAMissingKeyExits1AndNamesTableAndKey() throws {
    let table = try TestTable()
    let run = try table.run("get", "nothing")
    #expect(run.status == 1)
    #expect(run.output.isEmpty)
    #expect(
      run.errors
        == "shmctl: table '\(table.name)': no key 'nothing'; 'shmctl ls -t \(table.name)' shows what there is\n")
  }

  @Test func quietSaysNothingOfMissingKeys() throws {
    let table = try TestTable()
    let run = try table.run("get", "-q", "nothing")
    #expect(run.status == 1)
    #expect(run.errors == "")
  }

  @Test func getOfSeveralKeysPrintsALineEachAlsoForTheMissing() throws {
    let table = try TestTable()
    try table.open().set("a", "one")
    try table.open().set("c", "three")
    let run = try table.run("get", "a", "b", "c")
    #expect(run.status == 1)
    #expect(run.text == "one\n\nthree\n")
    #expect(run.errors.contains("no key 'b'"))
    let zero = try table.run("get", "-0", "a", "c")
    #expect(zero.status == 0)
    #expect(zero.text == "one\0three\0")
  }

  @Test func numbersAndBoolsArePrintedAsText() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.set("i", -42)
    try handle.set("d", 2.5)
    try handle.set("b", true)
    #expect(try table.run("get", "i").text == "-42")
    #expect(try table.run("get", "i", "d", "b").text == "-42\n2.5\ntrue\n")
  }

  @Test func typeSaysHowAValueIsStored() throws {
    let table = try TestTable()
    for (type, value) in [
      ("string", "5"), ("bytes", "x"), ("integer", "-5"), ("double", "1e3"), ("bool", "true"), ("json", "[1, 2]"),
    ] {
      #expect(try table.run("set", type, value, "--type", type).status == 0)
      #expect(try table.open().entry(forKey: type)?.type?.name == type)
    }
    #expect(try table.open().get("integer", as: Int.self) == -5)
    #expect(try table.open().get("double", as: Double.self) == 1000)
    #expect(try table.open().get("bool", as: Bool.self) == true)
    #expect(try table.run("set", "n", "-", "--type", "integer", input: Array("17\n".utf8)).status == 0)
    #expect(try table.open().get("n", as: Int.self) == 17)
  }

  @Test(arguments: [
    ("integer", "five"), ("integer", ""), ("double", "x"), ("bool", "yes"), ("json", "{"), ("blob", "x"),
  ])
  func aValueThatIsNotOfItsTypeIsAUsageError(type: String, value: String) throws {
    let table = try TestTable()
    let run = try table.run("set", "k", value, "--type", type)
    #expect(run.status == 2)
    #expect(run.errors.hasPrefix("shmctl: "))
    #expect(try !table.open().contains("k"))
  }

  @Test func delRemovesSeveralKeysAndReportsTheMissing() throws {
    let table = try TestTable()
    for key in ["a", "b", "c"] { try table.open().set(key, 1) }
    #expect(try table.run("del", "a", "b").status == 0)
    let run = try table.run("del", "c", "d")
    #expect(run.status == 1)
    #expect(run.errors.contains("no key 'd'"))
    #expect(try table.open().count == 0)
  }

  @Test func existsAnswersByItsExitStatusAlone() throws {
    let table = try TestTable()
    try table.open().set("a", 1)
    let yes = try table.run("exists", "a")
    #expect(yes.status == 0 && yes.output.isEmpty && yes.errors == "")
    let no = try table.run("exists", "a", "b")
    #expect(no.status == 1 && no.output.isEmpty && no.errors == "")
  }

  @Test func incrCountsFromNothingAndMakesADecimalStringAnInteger() throws {
    let table = try TestTable()
    #expect(try table.run("incr", "n").text == "1\n")
    #expect(try table.run("incr", "n", "-5").text == "-4\n")
    try table.run("set", "s", "41")
    #expect(try table.open().entry(forKey: "s")?.type == .string)
    #expect(try table.run("incr", "s").text == "42\n")
    #expect(try table.open().entry(forKey: "s")?.type == .integer)
  }

  @Test func incrOfGarbageExits10AndLeavesIt() throws {
    let table = try TestTable()
    try table.run("set", "s", "4x")
    let run = try table.run("incr", "s")
    #expect(run.status == 10)
    #expect(run.output.isEmpty)
    #expect(run.errors.hasPrefix("shmctl: table '\(table.name)': the value of 's'"))
    #expect(run.errors.contains("; "))
    #expect(try table.run("get", "s").text == "4x")
  }

  @Test func incrBeyond64BitsIsRefused() throws {
    let table = try TestTable()
    try table.open().set("n", Int.max)
    #expect(try table.run("incr", "n").status == 2)
    #expect(try table.open().get("n", as: Int.self) == Int.max)
  }

  @Test func aKeyWithALineEndStaysInItsLine() throws {
    let table = try TestTable()
    try table.open().set("a\tb\nc\\d", "v")
    for options in [[], ["--sort"]] {
      let text = try table.run(["ls", "--long"] + options).text
      #expect(text.split(separator: "\n").count == 1 && text.hasSuffix("\ta\\tb\\nc\\\\d\n"), "\(text)")
      #expect(try table.run(["ls"] + options).text == "a\tb\nc\\d\n")
      #expect(try table.run(["ls", "--long", "-0"] + options).text.hasSuffix("\ta\tb\nc\\d\0"))
    }
  }

  @Test func lsListsSortedKeysWithAPrefixAndCountCountsThem() throws {
    let table = try TestTable()
    for key in ["b2", "a", "b1", "c"] { try table.open().set(key, 1) }
    #expect(try table.run("ls", "--sort").text == "a\nb1\nb2\nc\n")
    #expect(try table.run("ls", "--sort", "b").text == "b1\nb2\n")
    #expect(try table.run("ls", "--sort", "-0", "b").text == "b1\0b2\0")
    #expect(try table.run("ls", "z").text == "")
    #expect(try table.run("count").text == "4\n")
  }

  @Test func theTableIsNamedBeforeOrAfterTheCommandOrByTheEnvironment() throws {
    let table = try TestTable()
    let other = try TestTable()
    try table.open().set("k", "here")
    try other.open().set("k", "there")
    #expect(try CommandRun(["-t", table.name, "get", "k"]).text == "here")
    #expect(try CommandRun(["get", "-t", table.name, "k"]).text == "here")
    #expect(try CommandRun(["get", "k", "--table", table.name]).text == "here")
    #expect(try CommandRun(["get", "k", "--table=\(table.name)"]).text == "here")
    #expect(try CommandRun(["get", "k"], environment: ["SHM_TABLE": table.name]).text == "here")
    #expect(try CommandRun(["get", "k", "-t", other.name], environment: ["SHM_TABLE": table.name]).text == "there")
  }

  @Test func withoutANameTheTableIsCalledDefault() throws {
    let table = try TestTable(isMade: false)
    // Nobody's default table is touched: a key that is no key fails before or after the table is looked for.
    let run = try CommandRun(["exists", "\(table.name).\(Int.random(in: 0 ... .max))"])
    #expect(run.status == 1 || run.status == 3)
    if run.status == 3 {
      #expect(run.errors.hasPrefix("shmctl: table 'default': no such table, and no other was named; name one with -t,"))
    }
    let empty = try CommandRun(["get", "--json", "k"], environment: ["SHM_TABLE": ""])
    #expect(empty.status == 0 || empty.errors.contains("table 'default'"))
  }

  @Test(arguments: [Table.Variant.rcu, .rwlock])
  func everyCommandWorksOnBothVariants(variant: Table.Variant) throws {
    let table = try TestTable(Table.Options(variant: variant, capacityBytes: 4 << 20))
    for arguments in [
      ["set", "a", "1"], ["incr", "a"], ["get", "a"], ["exists", "a"], ["ls", "--sort"], ["count"], ["stat"],
      ["del", "a"],
    ] {
      let run = try CommandRun(["-t", table.name] + arguments)
      #expect(run.status == 0, "\(arguments): \(run.errors)")
    }
  }
}
