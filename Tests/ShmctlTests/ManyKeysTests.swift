import Foundation
import SharedTable
import Testing

@testable import shmctl

/// Commands that take any number of keys: as arguments, and from standard input.
@Suite struct ManyKeysTests {
  private func filled(_ count: Int) throws -> TestTable {
    let table = try TestTable(Table.Options(capacityBytes: 32 << 20))
    try table.open().barrier { tx in for index in 0..<count { try tx.set("key-\(index)", index) } }
    return table
  }

  /// The parser gets as many words for a thousand keys as for one: it takes the square of their number in time.
  @Test func theParserSeesOneWordForAllKeys() {
    let keys = (0..<8000).map { Array("key-\($0)".utf8) }
    let words = CommandWords([Array("-t".utf8), Array("x".utf8), Array("get".utf8)] + keys + [Array("-q".utf8)])
    #expect(words.forParser.count == 5)
    #expect(words.forParser.last.map { KeyWords(argument: $0).keys?.arrays } == keys)
    #expect(words.forParser.dropLast() == ["-t", "x", "get", "-q"])
  }

  @Test func thousandsOfKeysAreTakenAsArguments() throws {
    let table = try filled(8000)
    let run = try CommandRun(["-t", table.name, "get"] + (0..<8000).map { "key-\($0)" })
    #expect(run.status == 0)
    #expect(run.text == (0..<8000).map { "\($0)\n" }.joined())
    #expect(try CommandRun(["-t", table.name, "exists"] + (0..<8001).map { "key-\($0)" }).status == 1)
    #expect(try CommandRun(["-t", table.name, "del"] + (0..<8000).map { "key-\($0)" }).status == 0)
    #expect(try table.open().count == 0)
  }

  /// Of a command that only the parser reads: one word for each key would take it a quarter of an hour, and a run ends after two
  /// minutes.
  @Test func tensOfThousandsOfKeysGoThroughTheParser() throws {
    let run = try TestTable().run(["type", "-q"] + (0..<60_000).map { "key-\($0)" })
    #expect(run.status == 1)
    #expect(run.text == String(repeating: "none\n", count: 60_000))
  }

  @Test func optionsMayStandAmongTheKeysUntilADoubleDash() throws {
    let table = try TestTable()
    let handle = try table.open()
    for key in ["a", "b", "-5", "-q", "--", "-", "--default"] { try handle.set(key, key) }
    let get = { (arguments: [String]) in try CommandRun(["get"] + arguments).text }
    #expect(try get(["a", "-t", table.name, "b", "-5", "-0"]) == "a\0b\0-5\0")
    #expect(try get(["--default", "none", "a", "x", "--table=\(table.name)"]) == "a\nnone\n")
    #expect(try get(["-qt", table.name, "a", "--", "-q", "-", "--", "--default"]) == "a\n-q\n-\n--\n--default\n")
  }

  @Test func anOptionMayHaveAnEmptyValueBehindItsEqualsSign() throws {
    let table = try TestTable()
    try table.open().set("empty", "")
    let missing = try table.run("get", "--default=", "none")
    #expect(missing.status == 0 && missing.text == "", "\(missing.errors)")
    #expect(try table.run("get", "none", "empty", "--default=").status == 0)
    #expect(try table.run("wait", "--value=", "empty", "--timeout", "10s").status == 0)
    #expect(try table.run("ls", "--prefix=", "--limit", "9").text == "empty\n")
    let name = try CommandRun(["--table=", "get", "empty"])
    #expect(name.status == 2 && name.errors.contains("table '': not a table name"), "\(name.errors)")
    #expect(try table.run("get", "--", "--default=").status == 1)
  }

  @Test func keysComeFromStandardInputWhereTheDashStands() throws {
    let table = try TestTable()
    let handle = try table.open()
    for key in ["a", "b", "c", "new\nline"] { try handle.set(key, key) }
    #expect(try table.run("get", "a", "-", "c", input: Array("b\nc".utf8)).text == "a\nb\nc\nc\n")
    #expect(try table.run("get", "-0", "-", input: Array("new\nline\0a\0".utf8)).text == "new\nline\0a\0")
    #expect(try table.run("exists", "-0", "-", input: Array("new\nline\0a\0".utf8)).status == 0)
    #expect(try table.run("exists", "-", input: Array("a\nz\n".utf8)).status == 1)
    #expect(try table.run("get", "-", input: []).status == 0)
    #expect(try table.run("del", "-0", "-", input: Array("new\nline\0".utf8)).status == 0)
    #expect(try !handle.contains("new\nline"))
  }

  @Test func everyKeyThatLsListsComesBackThroughStandardInput() throws {
    let table = try TestTable()
    let handle = try table.open()
    var keys: [[UInt8]] = []
    for byte in UInt8(1)...255 { keys += [[byte], [byte, 0xff, byte], [0x61, byte, 0x0a]] }
    for key in keys { try handle.set(key, key) }
    let run = try CommandRun(
      shell: #""$SHMCTL" -t "$T" ls -0 --sort | "$SHMCTL" -t "$T" get -0 -"#, environment: ["T": table.name])
    #expect(run.status == 0)
    keys.sort { $0.lexicographicallyPrecedes($1) }
    #expect(run.output == [UInt8](keys.map { $0 + [0] }.joined()))
  }

  @Test func keysOnStandardInputThatCannotBeAreRefused() throws {
    let table = try TestTable()
    try table.open().set("a", 1)
    let empty = try table.run("get", "-", input: Array("a\n\na\n".utf8))
    #expect(empty.status == 2)
    #expect(empty.errors.contains("key 2 on standard input is empty; "))
    let endless = try CommandRun(shell: #""$SHMCTL" -t "$T" get - </dev/zero"#, environment: ["T": table.name])
    #expect(endless.status == 6)
    #expect(endless.errors.contains("a key on standard input has more than 65536 bytes; "))
  }

  /// The list of options with a value is kept by hand: an option that was missing in it would lose its value to the keys.
  @Test(arguments: CommandWords.keyListCommands.sorted())
  func theOptionsWithAValueAreKnown(command: String) throws {
    var known = 0
    for argument in try Self.arguments(of: Self.known(of: [command])) {
      for name in argument["names"] as? [[String: Any]] ?? [] {
        let text = try #require(name["name"] as? String)
        let word = name["kind"] as? String == "long" ? "--\(text)" : "-\(text)"
        let takesValue = argument["kind"] as? String == "option"
        #expect(CommandWords.takesValue(Array(word.utf8)) == takesValue, "\(word)")
        known += 1
      }
    }
    #expect(known > 5)
  }

  /// So is the list of commands: the keys of one that was missing in it would reach the parser one by one.
  @Test func everyCommandThatTakesManyKeysIsKnown() throws {
    let commands = try #require(try Self.known(of: [])["subcommands"] as? [[String: Any]])
    let taking = try commands.filter { command in
      try Self.arguments(of: command).contains { argument in
        // What stands behind `--`, as in `read -- COMMAND`, is no list of keys.
        argument["kind"] as? String == "positional" && argument["isRepeating"] as? Bool == true
          && argument["parsingStrategy"] as? String == "default"
      }
    }
    let names = Swift.Set(taking.compactMap { $0["commandName"] as? String })
    #expect(names.subtracting(["help"]) == CommandWords.keyListCommands)
  }

  /// What the parser knows of a command, or with no word of all of them.
  private static func known(of command: [String]) throws -> [String: Any] {
    let run = try CommandRun(command + ["--experimental-dump-help"])
    let dump = try #require(try JSONSerialization.jsonObject(with: Data(run.output)) as? [String: Any])
    return try #require(dump["command"] as? [String: Any])
  }

  private static func arguments(of command: [String: Any]) throws -> [[String: Any]] {
    try #require(command["arguments"] as? [[String: Any]])
  }
}
