import TestSupport
import Testing

@testable import shmctl

@Suite struct ProgressTests {
  @Test func aLineTellsShareRateAndTimeLeft() {
    #expect(
      Progress.line("dump", 450_000, of: 1_000_000, after: .milliseconds(500))
        == "dump: 450000 of 1000000 keys (45%), 900000 a second, 1 s left")
    #expect(Progress.line("load", 7, of: 0, after: .seconds(2)) == "load: 7 keys, 3 a second")
    // More than was thought there were.
    #expect(Progress.line("dump", 11, of: 10, after: .seconds(1)) == "dump: 11 keys, 11 a second")
    #expect(Progress.line("dump", 0, of: 10, after: .zero) == "dump: 0 of 10 keys (0%), 0 a second")
    #expect(Phrase.time(3725 * 1_000_000_000) == "62 min" && Phrase.time(61 * 1_000_000_000) == "61 s")
  }

  @Test func whatIsEscapedReadsBackAsOneWord() throws {
    var random = SplitMix(seed: 7)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let words = try WordLine.words(Array("x ".utf8) + WordLine.escaped(bytes))
      #expect(words == [[0x78], bytes])
      // No bytes make it trap.
      _ = try? WordLine.words(bytes)
      _ = try? OperationLine.parse(Array("set ".utf8) + bytes, json: false)
      _ = try? OperationLine.parse(Array(#"{"op":"#.utf8) + bytes, json: true)
    }
  }

  @Test func noByteThatATerminalObeysIsLeft() {
    func escaped(_ text: String) -> String { String(decoding: WordLine.escaped(Array(text.utf8)), as: UTF8.self) }
    #expect(escaped("\u{9b}2J") == #"\xc2\x9b2J"#)
    #expect(escaped("a\u{80}\u{9f}") == #"a\xc2\x80\xc2\x9f"#)
    #expect(escaped("é\u{a0}€") == "é\u{a0}€")
  }

  @Test func noInputOfAnotherFormTrapsItsReader() {
    var random = SplitMix(seed: 11)
    let seeds = [
      "key,value,encoding\na,\"b\"\"c\",base64\n", "export A=\"b\\n\" # c\n",
      "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n",
      "*5\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n$2\r\nPX\r\n$1\r\n9\r\n",
    ].map { Array($0.utf8) }
    for _ in 0..<4000 {
      var input = seeds.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let index = Int.random(in: input.indices, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: input[index] = UInt8.random(in: 0...255, using: &random)
        case 1 where input.count > 1: input.remove(at: index)
        default: input.insert([0x0a, 0x22, 0x39, 0x2a][Int.random(in: 0..<4, using: &random)], at: index)
        }
      }
      _ = try? CSVReader.records(input)
      _ = try? EnvReader.records(input)
      _ = try? RESPReader.records(input, now: 1)
    }
  }
}
