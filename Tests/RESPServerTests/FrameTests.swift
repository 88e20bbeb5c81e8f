import TestSupport
import Testing

@testable import RESPServer

/// What the parser makes of bytes, whole or in pieces.
struct FrameTests {
  enum Outcome: Equatable {
    case command([[UInt8]])
    case nothing
    case failed(ProtocolError)
  }

  /// Feeds the bytes so that they arrive up to each of the given places in turn.
  private func parse(_ bytes: [UInt8], arrivingAt places: [Int], _ limits: FrameParser.Limits = .init()) -> [Outcome] {
    var parser = FrameParser(limits)
    var outcomes: [Outcome] = []
    var start = 0
    for end in places + [bytes.count] {
      while start < end {
        var consumed = 0
        let outcome: Outcome? = bytes[start..<end].withUnsafeBytes { raw in
          switch parser.step(Bytes(raw)) {
          case .needsMore: return nil
          case .nothing:
            consumed = parser.consumed
            return .nothing
          case .failed(let error): return .failed(error)
          case .frame:
            consumed = parser.consumed
            if let inline = parser.inline { return .command(inline.withRequest(words)) }
            return .command(words(Request(raw, parser.arguments.ranges)))
          }
        }
        guard let outcome else { break }
        outcomes.append(outcome)
        if case .failed = outcome { return outcomes }
        start += consumed
        parser.reset()
      }
    }
    return outcomes
  }

  private func words(_ request: Request) -> [[UInt8]] { (0..<request.count).map { request[$0].array } }

  private func whole(_ text: String, _ limits: FrameParser.Limits = .init()) -> [Outcome] {
    parse(Array(text.utf8), arrivingAt: [], limits)
  }

  private func command(_ words: String...) -> Outcome { .command(words.map { Array($0.utf8) }) }

  @Test func commandsFollowEachOther() {
    #expect(
      whole("*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$4\r\nPING\r\nPING x\r\n")
        == [command("GET", "a"), command("PING"), command("PING", "x")])
  }

  @Test func emptyFramesArePassedOver() {
    #expect(whole("*0\r\n*-1\r\n\r\nPING\r\n") == [.nothing, .nothing, .nothing, command("PING")])
  }

  @Test(arguments: [
    ("*x\r\n", "invalid multibulk length"), ("*2147483648\r\n", "invalid multibulk length"),
    ("*1\r\n:1\r\n", "expected '$', got ':'"), ("*1\r\n$-1\r\n", "invalid bulk length"),
    ("*1\r\n$4294967296\r\n", "invalid bulk length"), ("*1\r\n$01\r\n", "invalid bulk length"),
    ("*1\r\n$01\r\na\r\n", "invalid bulk length"), ("*1\r\n$/\r\na\r\n", "invalid bulk length"),
    ("*1\r\n$:\r\naaaaaaaaaaaaaaaaaaaa\r\n", "invalid bulk length"),
    ("*1\r\n$1:\r\naaaaaaaaaaaaaaaaaaaa\r\n", "invalid bulk length"),
    ("*1\r\n$1/\r\naaaaaaaaaaaaaaaaaaaa\r\n", "invalid bulk length"),
    ("*01\r\n$1\r\na\r\n", "invalid multibulk length"),
    ("SET \"a\r\n", "unbalanced quotes in request"), ("SET \"a\"b\r\n", "unbalanced quotes in request"),
  ])
  func damageIsNamedAsRedisNamesIt(_ text: String, _ message: String) {
    #expect(whole(text) == [.failed(ProtocolError(message))])
  }

  @Test(arguments: [1, 9, 0x24 ^ 1, 0x7F, 0x80, 0xC3, 0xFF] as [UInt8])
  func aByteInPlaceOfALengthIsQuotedAsItIs(_ byte: UInt8) {
    let outcomes = parse(Array("*1\r\n".utf8) + [byte] + Array("1\r\na\r\n".utf8), arrivingAt: [])
    #expect(outcomes == [.failed(.expectedLength(got: byte))])
    let reply = ProtocolError.expectedLength(got: byte).reply
    #expect(reply == Array("ERR Protocol error: expected '$', got '".utf8) + [byte, UInt8(ascii: "'")])
  }

  @Test func bytesAreJudgedToBeUTF8WhereverTheyAreNoASCII() {
    for length in 0...40 {
      let ascii = [UInt8](repeating: 0x7F, count: length)
      #expect(ascii.withBytes(UTF8Check.isValid))
      for place in 0..<length {
        var bytes = ascii
        bytes[place] = 0xC3
        // The first byte of two, without and with the second.
        #expect(!bytes.withBytes(UTF8Check.isValid), "\(place) of \(length)")
        guard place + 1 < length else { continue }
        bytes[place + 1] = 0xA9
        #expect(bytes.withBytes(UTF8Check.isValid), "\(place) of \(length)")
      }
    }
  }

  @Test func aWordEndsAtAZeroByte() {
    func isEX(_ sent: String) -> Bool { Array(sent.utf8).withBytes { $0.isWord("EX") } }
    #expect(isEX("ex") && isEX("EX\0T") && isEX("EX\0"))
    #expect(!isEX("EXT") && !isEX("E") && !isEX("E\0X") && !isEX(""))
  }

  /// Bytes that are no text come back as they were sent; a zero byte ends what is shown, as Redis prints it as a C string.
  @Test func anErrorQuotesWhatWasSent() {
    func quoting(_ sent: [UInt8], most: Int = .max) -> [UInt8] {
      sent.withBytes { CommandError("ERR '", quoting: $0, most: most, "'").bytes }
    }
    #expect(quoting([0xC3, 0x28, 0xFF]) == Array("ERR '".utf8) + [0xC3, 0x28, 0xFF] + Array("'".utf8))
    #expect(quoting(Array("ab\0c".utf8)) == Array("ERR 'ab'".utf8))
    #expect(quoting(Array("abcd".utf8), most: 3) == Array("ERR 'abc'".utf8))
  }

  @Test(arguments: [0, 1, 9, 10, 11, 99, 100, 101, 999, 1000])
  func argumentsHaveTheLengthThatTheirLineTells(_ length: Int) {
    let word = String(repeating: "a", count: length)
    #expect(whole("*2\r\n$4\r\nECHO\r\n$\(length)\r\n\(word)\r\n") == [command("ECHO", word)])
    // Redis passes over the byte behind a carriage return, whatever it is.
    #expect(whole("*2\r\n$4\r_ECHO\r\n$\(length)\r_\(word)\r\n") == [command("ECHO", word)])
  }

  /// Of few arguments the places lie in memory that is kept, of many in memory that is made as they come.
  @Test(arguments: [1, 15, 16, 17, 33, 1024, 1025, 3000])
  func framesHaveAsManyArgumentsAsTheyTell(_ count: Int) {
    let words = (0..<count).map { Array("argument \($0)".utf8) }
    let frame = RedisClient.encode(words)
    let frames = frame + Array("PING\r\n".utf8) + frame
    let expected: [Outcome] = [.command(words), command("PING"), .command(words)]
    #expect(parse(frames, arrivingAt: []) == expected)
    #expect(parse(frames, arrivingAt: [1, frame.count / 2, frame.count - 1, frame.count + 3]) == expected)
  }

  @Test func linesWithoutAnEndAreRefused() {
    let long = String(repeating: "1", count: 70_000)
    #expect(whole(long) == [.failed(.tooBigInlineRequest)])
    #expect(whole("*" + long) == [.failed(.tooBigMultibulkCount)])
    #expect(whole("*1\r\n$" + long) == [.failed(.tooBigBulkCount)])
  }

  /// A batch looks at what follows it, and leaves it to others.
  @Test func lookingTwiceChangesNothing() {
    for text in ["\r\n*1\r\n$4\r\nPING\r\n", "*1\r\n$x\r\n1\r\na\r\n", "PING\r\nECHO a\r\n", "*0\r\n*1\r\n$1\r\na\r\n"]
    {
      var parser = FrameParser()
      Array(text.utf8).withUnsafeBytes { raw in
        let first = "\(parser.step(Bytes(raw)))"
        let consumed = parser.consumed
        #expect("\(parser.step(Bytes(raw)))" == first)
        #expect(parser.consumed == consumed)
      }
    }
  }

  /// To Redis a line with a zero byte has no end, as a string has none behind it.
  @Test func zeroBytesHideTheEndOfALine() {
    #expect(whole("PING a\0b\r\n") == [])
    #expect(whole("*1\r\n$4\0\r\n") == [])
  }

  @Test func quotesAndEscapesOfInlineCommands() {
    #expect(
      whole("set \"a b\" '\\'' \"\\x41\\n\"\n") == [.command([Array("set".utf8), Array("a b".utf8), [39], [65, 10]])])
  }

  /// A million arguments and 4 GiB are announced; memory is made for what arrives.
  @Test func announcedLengthsTakeNoMemory() {
    var parser = FrameParser()
    let bytes = Array("*1048576\r\n$536870912\r\n".utf8)
    bytes.withUnsafeBytes { raw in
      guard case .needsMore = parser.step(Bytes(raw)) else {
        Issue.record("it is no whole frame")
        return
      }
    }
    let capacity = parser.arguments.capacity
    #expect(capacity < 100)
  }

  @Test func limitsHold() {
    let limits = FrameParser.Limits(argument: 10, arguments: 3, frame: 40)
    #expect(whole("*4\r\n", limits) == [.failed(.invalidMultibulkLength)])
    #expect(whole("*1\r\n$11\r\n", limits) == [.failed(.invalidBulkLength)])
    // What has arrived whole is judged likewise.
    #expect(whole("*1\r\n$11\r\n12345678901\r\n", limits) == [.failed(.invalidBulkLength)])
    #expect(
      whole("*3\r\n$9\r\n123456789\r\n$9\r\n123456789\r\n$9\r\n123456789\r\n", limits)
        == [.failed(.tooBigRequest)])
    #expect(
      whole("*4\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n", limits)
        == [.failed(.invalidMultibulkLength)])
    #expect(whole("*3\r\n$9\r\n123456789\r\n$9\r\n123456789\r\n$9\r\n", limits) == [.failed(.tooBigRequest)])
  }

  /// Wherever a stream is cut, the same commands come out of it; damaged ones too.
  @Test func cutsChangeNothing() {
    var random = SplitMix(seed: 15)
    for round in 0..<400 {
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 1...6, using: &random) { bytes += frame(&random) }
      if round % 2 == 1 {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
      }
      let expected = parse(bytes, arrivingAt: [])
      if round < 40 {
        #expect(parse(bytes, arrivingAt: Array(1..<bytes.count)) == expected, "seed 15, round \(round), byte by byte")
      }
      for _ in 0..<5 {
        let cuts = (0..<4).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()
        #expect(parse(bytes, arrivingAt: cuts) == expected, "seed 15, round \(round), cut at \(cuts)")
      }
    }
  }

  private func frame(_ random: inout SplitMix) -> [UInt8] {
    let words = (0..<Int.random(in: 0...4, using: &random)).map { _ in
      (0..<Int.random(in: 0...12, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    if Int.random(in: 0..<4, using: &random) == 0 { return Array("PING 'a b' \"c\"\r\n".utf8) }
    return Array("*\(words.count)\r\n".utf8) + words.flatMap { Array("$\($0.count)\r\n".utf8) + $0 + [13, 10] }
  }
}
