import ArgumentParser
import TestSupport
import Testing

@testable import shmctl

/// The plain form of a command line is read without the parser, and means the same.
@Suite struct PlainWordsTests {
  @Test(arguments: [
    "get k", "get k l m", "get -", "get k - l", "-t n get k", "get k -t n", "get k --json", "get -q -- k", "get -5",
    "exists k -q",
    "del k l", "incr k", "incr k -5", "incr k 9223372036854775807", "set k v", "set k -", "set k -1.5",
    "-q -t n set k v",
  ])
  func plainWordsAreReadAsTheParserDoes(line: String) throws {
    let words = Self.words(line)
    let plain = try #require(PlainWords.command(words))
    #expect(Self.described(plain) == Self.described(try Shmctl.parseAsRoot(words.forParser)))
    // What is not set would end the program where it is read.
    #expect(!Self.described(plain).contains("*definition*"))
  }

  @Test(arguments: [
    "", "get", "get --help", "get k --default v", "set k", "set k v --ttl 5s", "set k v --json", "incr k x",
    "incr k 1 2", "-t get k",
    "get -t", "get k -t -q", "get k -qt n", "get k --table=n", "get k --jso", "ls", "set k v w", "--version",
    "get -0 k", "nonsense k",
    "incr k 9223372036854775808", "-t a -t b get k",
  ])
  func whatIsNotPlainIsLeftToTheParser(line: String) { #expect(PlainWords.command(Self.words(line)) == nil) }

  @Test func randomWordsMeanTheSameEitherWay() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    let pieces = [
      "get", "set", "del", "exists", "incr", "ls", "k", "v", "-", "--", "-t", "-q", "--json", "-0", "-5", "--quiet",
      "--table", "n",
      "--ttl", "5s", "", "é", "-x", "--table=n", "-tn", "\u{10ff41}", "--js", "help",
    ]
    var count = 0
    for _ in 0..<2000 {
      let line = (0..<Int.random(in: 1...6, using: &random)).compactMap { _ in pieces.randomElement(using: &random) }
      let words = CommandWords(line.map { Array($0.utf8) })
      guard let plain = PlainWords.command(words) else { continue }
      count += 1
      let parsed = (try? Shmctl.parseAsRoot(words.forParser)).map(Self.described)
      #expect(parsed == Self.described(plain), "\(line), seed \(seed)")
    }
    #expect(count > 50)
  }

  private static func words(_ line: String) -> CommandWords {
    CommandWords(line.split(separator: " ").map { Array($0.utf8) })
  }

  /// The command's type and every property, those of its option groups included.
  private static func described(_ command: any ParsableCommand) -> String {
    var text = ""
    dump(command, to: &text)
    // Whatever the parser keeps beside a value, such as where it stood.
    return text.split(separator: "\n").filter { !$0.contains("_hiddenFromHelp") }.joined(separator: "\n")
  }
}
