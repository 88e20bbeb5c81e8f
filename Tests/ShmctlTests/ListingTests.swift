import SharedTable
import Testing

@testable import ToolSupport

/// `ls`, `count`, and `del --prefix`.
@Suite struct ListingTests {
  private func filled() throws -> TestTable {
    let table = try TestTable()
    let handle = try table.open()
    for key in ["user:1", "user:2", "user:10", "page:1", "é:1"] { try handle.set(key, key) }
    return table
  }

  @Test func globsAndPrefixesChooseKeys() throws {
    let table = try filled()
    #expect(try table.run("ls", "--sort", "--glob", "user:?").text == "user:1\nuser:2\n")
    #expect(try table.run("ls", "--sort", "--glob", "*:1").text == "page:1\nuser:1\né:1\n")
    #expect(try table.run("ls", "--sort", "--prefix", "user:", "--glob", "*0").text == "user:10\n")
    #expect(try table.run("ls", "--glob", "?:1").text == "é:1\n")
    #expect(try table.run("count", "user:").text == "3\n")
    #expect(try table.run("count", "--glob", "[!u]*").text == "2\n")
    #expect(try table.run("ls", "user:", "--prefix", "user:").status == 2)
  }

  @Test func limitEndsTheListing() throws {
    let table = try filled()
    #expect(try table.run("ls", "--sort", "--limit", "2").text == "page:1\nuser:1\n")
    #expect(try table.run("ls", "--limit", "2").text.split(separator: "\n").count == 2)
    #expect(try table.run("ls", "--limit", "0").text == "")
    #expect(try table.run("ls", "--limit", "-1").status == 2)
  }

  /// Streamed means in the order of the table, not sorted; each key is there once.
  @Test func aStreamedListingHasEveryKeyOnce() throws {
    let table = try TestTable(Table.Options(capacityBytes: 32 << 20))
    try table.open().barrier { tx in for index in 0..<20_000 { try tx.set("key-\(index)", index) } }
    let streamed = try table.run("ls", "--prefix", "key-1")
    #expect(try table.run("ls", "--sort", "--prefix", "key-1").output != streamed.output)
    let keys = streamed.text.split(separator: "\n").map(String.init)
    #expect(keys.sorted() == (0..<20_000).map { "key-\($0)" }.filter { $0.hasPrefix("key-1") }.sorted())
  }

  @Test func delRemovesByPrefix() throws {
    let table = try filled()
    let missing = try table.run("del", "--prefix", "nothing")
    #expect(missing.status == 1)
    #expect(try table.run("del", "--prefix", "user:", "--json").objects.first??["removed"] as? Int == 3)
    #expect(try table.run("ls", "--sort").text == "page:1\né:1\n")
    #expect(try table.run("del", "--prefix", "").status == 2)
    #expect(try table.run("del", "--prefix", "", "key").status == 2)
    #expect(try table.run("del", "--prefix", "", "--yes").status == 0)
    #expect(try table.open().count == 0)
  }

  @Test func delByPrefixAsksOnATerminal() throws {
    let table = try filled()
    let onTerminal = { (answer: String) in
      try CommandRun(
        shell: #"printf '\#(answer)\n' | script -qec "$SHMCTL -t $T del --prefix user:" /dev/null"#,
        environment: ["T": table.name])
    }
    let no = try onTerminal("n")
    #expect(no.text.contains("remove 3 keys that begin with 'user:' from table '\(table.name)'? [y/N]"))
    #expect(no.status == 1)
    #expect(try table.open().count == 5)
    #expect(try onTerminal("y").status == 0)
    #expect(try table.open().count == 2)
  }

  /// Each is itself, and not looked at once more for each one before it: that would take hours.
  @Test func aMillionBracketsWithoutAnEndAreThemselves() {
    let brackets = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
    let pattern = GlobPattern(brackets)
    #expect(pattern.matches(brackets))
    #expect(!pattern.matches(Array(brackets.dropLast())))
    #expect(GlobPattern(Array("[a]b[".utf8)).matches(Array("ab[".utf8)))
  }

  @Test func quotableTextTellsItsBytes() {
    #expect(String.quotable([0x85]) == #"\x85"#)
    #expect(String.quotable([0xc2, 0x85]) == #"\xc2\x85"#)
    #expect(String.quotable(Array("\u{7f}\u{1b}\t\\é".utf8)) == #"\x7f\x1b\t\\é"#)
  }

  @Test(arguments: [
    ("", "", true), ("", "a", false), ("*", "", true), ("*", "abc", true), ("a*c", "abbc", true), ("a*c", "abb", false),
    ("*b*", "abc", true), ("?", "é", true), ("?", "ab", false), ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false),
    ("[]]", "]", true), ("[", "[", true), ("[ab", "[ab", true), (#"\*"#, "*", true), (#"\*"#, "a", false),
    ("*??", "€", false), ("??", "aé", true), ("*??", "aé", true), ("*?", "€", true), ("*é*?", "aéb€", true),
    ("?*?", "€", false),
    ("**a**", "bab", true), ("a", "A", false), ("*a*a*a*a*a*b", String(repeating: "a", count: 2000), false),
  ])
  func aPatternMatchesOrNot(pattern: String, text: String, matches: Bool) {
    #expect(GlobPattern(Array(pattern.utf8)).matches(Array(text.utf8)) == matches)
  }
}
