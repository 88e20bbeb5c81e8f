import Foundation
import Glibc
import TestSupport
import Testing

@testable import shmctl

/// The interactive mode without its terminal: what keys do to a line. `scripts/shell-test.sh` runs it in a real one.
@Suite struct ShellTests {
  private static func type(_ text: String, history: [String] = []) -> (editor: LineEditor, last: LineEditor.Outcome) {
    var editor = LineEditor(history: history)
    var decoder = KeyDecoder()
    var last = LineEditor.Outcome.editing
    // Byte by byte: what a slow line brings.
    for byte in text.utf8 {
      for key in decoder.keys([byte]) { last = editor.press(key) }
    }
    return (editor, last)
  }

  @Test(arguments: [
    ("abc", "abc", ""), ("abc\u{1b}[D\u{1b}[Dx", "ax", "bc"), ("abc\u{1}x", "x", "abc"), ("abc\u{1}\u{5}x", "abcx", ""),
    ("abc\u{7f}\u{7f}", "a", ""), ("abc\u{1b}[D\u{1b}[3~", "ab", ""), ("ab cd\u{17}x", "ab x", ""),
    ("ab cd\u{15}x", "x", ""),
    ("ab cd\u{1b}b\u{b}", "ab ", ""), ("ab cd\u{1}\u{1b}fx", "abx", " cd"), ("é😀\u{1b}[Dü", "éü", "😀"),
    ("e\u{301}x\u{7f}\u{7f}", "", ""), ("日本\u{1b}OD語", "日語", "本"), ("a\u{1b}[99;99~b", "ab", ""),
    ("a\u{1b}[1;5Db", "b", "a"),
    ("a\u{85}b", "ab", ""),
  ])
  func keysEditTheLine(typed: String, before: String, after: String) {
    let editor = Self.type(typed).editor
    #expect(editor.before == before && editor.after == after)
  }

  @Test func linesEndAsKeysSay() {
    #expect(Self.type("get k\r").last == .accepted("get k"))
    #expect(Self.type("get\u{3}").last == .cancelled)
    #expect(Self.type("\u{4}").last == .ended)
    #expect(Self.type("ab\u{1}\u{4}").editor.text == "b")
    #expect(Self.type("ge\t").last == .wantsCompletion)
  }

  @Test func formerLinesThatBeginWithWhatIsTypedComeBack() {
    let history = ["get a", "set b 1", "get c"]
    #expect(Self.type("\u{1b}[A", history: history).editor.text == "get c")
    #expect(Self.type("\u{1b}[A\u{1b}[A", history: history).editor.text == "set b 1")
    #expect(Self.type("set\u{1b}[A", history: history).editor.text == "set b 1")
    #expect(Self.type("get\u{1b}[A\u{1b}[A\u{1b}[A", history: history).editor.text == "get a")
    #expect(Self.type("get\u{1b}[A\u{1b}[A\u{1b}[B\u{1b}[B", history: history).editor.text == "get")
  }

  @Test func aLineTakesOneRowHoweverLongItIs() {
    for width in [1, 10, 40, 80] {
      for before in ["", "short", String(repeating: "long ", count: 50), String(repeating: "日本語", count: 30)] {
        for after in ["", "tail", String(repeating: "é😀", count: 60)] {
          let view = LineView(prompt: "shmctl table> ", before: before, after: after, width: width)
          #expect(LineView.columns(view.text) <= max(4, width - 1) && view.column <= LineView.columns(view.text))
        }
      }
    }
    let view = LineView(prompt: "> ", before: "abcdefgh", after: "ijklmn", width: 11)
    #expect(view.text == "> bcdefgh" + "i" && view.column == 9)
    #expect(LineView(prompt: "> ", before: "ab日", after: "本cdefgh", width: 11).text == "> ab日本cd")
    #expect(LineView.columns("aé日😀e\u{301}") == 7)
  }

  @Test func singleQuotesAreRefusedAndNotStored() throws {
    #expect(throws: OperationLine.Wrong.self) { try Shell.words("set k 'a b'") }
    #expect(throws: OperationLine.Wrong.self) { try Shell.words("'get' k") }
    #expect(try Shell.words("set k \"it's\"").count == 3)
    // Within a word, and in a comment, they mean nothing.
    #expect(try Shell.words("set k \"it is 'quoted'\"").last == Array("it is 'quoted'".utf8))
    #expect(try Shell.words("# it is 'quoted'").isEmpty)
  }

  @Test func whatNoArgumentCanHoldIsRefused() throws {
    #expect(throws: OperationLine.Wrong.self) { try Shell.words(#"set k a\x00b"#) }
    #expect(try Shell.words(#"set k a\x01b"#).last == [0x61, 1, 0x62])
  }

  /// A hang is what fails.
  @Test func aLineOfAnyLengthIsShownAtOnce() {
    let long = String(repeating: "é", count: 1_000_000)
    let view = LineView(prompt: "> ", before: long, after: long, width: 80)
    #expect(view.text == "> " + String(repeating: "é", count: 77) && view.column == 78)
  }

  @Test(arguments: [
    ("get ", ["get", ""], 4), ("get a", ["get", "a"], 4), ("get \"a b", ["get", "a b"], 4),
    ("get \"a b\"", ["get", "a b"], 4), ("get \"a b\" ", ["get", "a b", ""], 10),
    ("get é a\\sb", ["get", "é", "a b"], 7),
    ("", [""], 0), (" g", ["g"], 1),
  ])
  func theWordAtTheCursorIsFound(typed: String, words: [String], start: Int) throws {
    let unfinished = try #require(try WordLine.unfinished(Array(typed.utf8)))
    #expect(unfinished.words == words.map { Array($0.utf8) } && unfinished.start == start)
    var editor = Self.type(typed + "x\u{1b}[D").editor
    editor.complete("word ", from: start)
    #expect(editor.before == String(decoding: typed.utf8.prefix(start), as: UTF8.self) + "word " && editor.after == "x")
  }

  @Test func aCommentHasNoWordAtTheCursor() throws {
    #expect(try WordLine.unfinished(Array("# get a".utf8)) == nil)
    #expect(try WordLine.unfinished(Array("get #a".utf8)) != nil)
  }

  @Test func theShellsOwnWordsAreCompleted() throws {
    let table = try TestTable()
    let options = CommonOptions(plain: ())
    #expect(Completion.answers(toTyped: ["us"], options) == ["use"])
    #expect(!Completion.answers(toTyped: [""], options).contains("shell"))
    #expect(Completion.answers(toTyped: ["use", table.name], options).contains(table.name))
    #expect(Completion.answers(toTyped: ["use", table.name, ""], options).isEmpty)
  }

  @Test func theHistoryIsItsUsersAlone() throws {
    let folder = try Scratch()
    let path = folder.file("deep/er/history")
    var history = History(path: path)
    for line in ["get a", "get a", " secret", "", "get é"] { history.add(line) }
    #expect(History(path: path).lines == ["get a", "get é"])
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    for number in 0..<2500 { history.add("line \(number)") }
    #expect(History(path: path).lines.count == 1000 && History(path: path).lines.last == "line 2499")
    #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count == 1000)
  }

  @Test func aLongHistoryKeepsItsEnd() throws {
    let folder = try Scratch()
    // Two lines of 5 MiB, and the newest.
    let long = String(repeating: "x", count: 5 << 20)
    try "oldest\n\(long)\n\(long)\nnewest\n".write(toFile: folder.path, atomically: false, encoding: .utf8)
    for _ in 0..<2 {
      // Not within the expectation: what fails would be shown.
      let isEnd = History(path: folder.path).lines == [long, "newest"]
      #expect(isEnd)
    }
  }

  @Test func aHistoryObeysNobody() throws {
    let folder = try Scratch()
    try "get a\nset k \u{1b}]0;title\u{7}\nget b\n".write(toFile: folder.path, atomically: false, encoding: .utf8)
    #expect(History(path: folder.path).lines == ["get a", "get b"])
  }

  /// A link, a device and another user's file stay what they are.
  @Test func onlyTheUsersOwnFileIsAHistory() throws {
    let folder = try Scratch()
    try "get a\n".write(toFile: folder.path, atomically: false, encoding: .utf8)
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    _ = unsafe chmod(folder.path, 0o644)
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
    #expect(unsafe mkfifo(folder.file("pipe"), 0o644) == 0)
    // A device of our own, where we may make one: that of the host stays out of it.
    let isMade = unsafe mknod(folder.file("null"), S_IFCHR | 0o644, 1 << 8 | 3) == 0
    for path in [link, folder.file("pipe")] + (isMade ? [folder.file("null")] : []) {
      var history = History(path: path)
      #expect(history.lines.isEmpty)
      history.add("get b")
      #expect(history.lines == ["get b"])
    }
    #expect(try mode(folder.file("pipe")) == 0o644 && (!isMade || mode(folder.file("null")) == 0o644))
    if let stranger {
      #expect(unsafe chown(folder.path, stranger, stranger) == 0)
      var history = History(path: folder.path)
      history.add("get b")
    }
    #expect(try mode(folder.path) == 0o644)
    #expect(try String(contentsOfFile: folder.path, encoding: .utf8) == "get a\n")
  }

  @Test func withoutATerminalThereIsNoShell() throws {
    let run = try CommandRun(["shell"])
    #expect(run.status == 2 && run.errors.contains("needs a terminal"))
    #expect(try CommandRun([]).errors.contains("Missing command"))
  }

  @Test func randomKeysNeverCrash() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    let pieces: [[UInt8]] = [
      [0x1b], Array("\u{1b}[".utf8), Array("A".utf8), [0xf0], [0x9f], [0xff], [0], [9], [13], [3], [4], [0x7f],
      Array("é".utf8),
      Array("word ".utf8), Array("\u{1b}[1;5C".utf8), Array("\u{1b}b".utf8), [0x17], [0x0b], [0x15],
    ]
    for _ in 0..<2000 {
      var editor = LineEditor(history: ["get a", "set"])
      var decoder = KeyDecoder()
      for _ in 0..<30 {
        for key in decoder.keys(pieces.randomElement(using: &random)!) { _ = editor.press(key) }
        let view = LineView(prompt: "> ", before: editor.before, after: editor.after, width: random.below(30))
        #expect(view.column >= 0, "seed \(seed)")
      }
    }
  }
}
