import Testing

@testable import SharedMemory

/// Text of strangers on one line, in which nothing controls a terminal.
@Suite struct PrintableTextTests {
  @Test func controlCharactersAreSpelled() {
    #expect("a\u{0}\u{1b}[2J\n\u{7f}\u{85}ä".printable == #"a\x00\x1b[2J\x0a\x7f\x85ä"#)
  }

  @Test func bytesThatAreNoTextAreSpelledOneByOne() {
    #expect(String.printable([0x61, 0xc3, 0x28, 0x0a]) == #"a\xc3(\x0a"#)
    #expect(String.printable(Array("ä\n".utf8)) == #"ä\x0a"#)
  }

  @Test func ofALongTextTheBeginningIsShown() {
    #expect(String.printableStart(Array(repeating: 0x61, count: 64)) == String(repeating: "a", count: 64))
    #expect(String.printableStart(Array(repeating: 0x61, count: 65)) == String(repeating: "a", count: 64) + "…")
    // The cut lies within the last character, of which no byte may reach a terminal by itself.
    let text = String(repeating: "a", count: 63) + "ä" + "\n"
    #expect(String.printableStart(Array(text.utf8)) == String(repeating: "a", count: 63) + "\u{fffd}…")
  }
}
