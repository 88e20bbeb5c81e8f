import Testing

@testable import shmctl
import ToolSupport

@Suite struct ArgumentTests {
  @Test(arguments: [
    ("0", 0), ("1048576", 1_048_576), ("64MiB", 64 << 20), ("64m", 64 << 20), ("1GiB", 1 << 30), ("2K", 2048),
    ("5B", 5),
    ("3TiB", 3 << 40), ("1MB", 1_000_000), ("7kB", 7000),
  ])
  func sizesAreRead(text: String, bytes: Int) { #expect(ByteCount(argument: text)?.bytes == bytes) }

  @Test(arguments: ["", "MiB", "-1", "1.5MiB", "1  MiB", "1QiB", "99999999TiB", "99999999999999999999", "0x10", "١"])
  func sizesThatAreNoneAreRefused(text: String) { #expect(ByteCount(argument: text) == nil) }

  @Test func sizesAreShownInTheLargestUnit() {
    let shown = [(0, "0B"), (1023, "1023B"), (1024, "1KiB"), (1536, "1.5KiB"), (64 << 20, "64MiB"), (5 << 40, "5TiB")]
    for (bytes, text) in shown { #expect(ByteCount(bytes: bytes).description == text) }
  }

  @Test(arguments: [
    ("500ms", 500), ("30s", 30_000), ("30", 30_000), ("5m", 300_000), ("1h", 3_600_000), ("2d", 172_800_000),
  ])
  func timesAreRead(text: String, milliseconds: Int) {
    #expect(TimeSpan(argument: text)?.milliseconds == milliseconds)
  }

  @Test(arguments: ["", "s", "-1s", "1.5h", "1w", "5  s", "9223372036854775807s"])
  func timesThatAreNoneAreRefused(text: String) { #expect(TimeSpan(argument: text) == nil) }

  @Test func anyBytesPassThroughTheParserAndBack() {
    var samples = (0...255).map { [UInt8(0x61), UInt8($0)] } + [[], [0xff], Array("é😀".utf8), Array("-12".utf8)]
    for scalar: Unicode.Scalar in ["\u{10ff00}", "\u{10ffff}", "\u{10feff}", "\u{fffd}"] {
      samples.append(Array(String(scalar).utf8))
      samples.append([0xff] + Array(String(scalar).utf8) + [0x2d])
    }
    var seen: Swift.Set<String> = []
    for bytes in samples {
      for options in [true, false] {
        let text = RawArgument.encode(bytes, options: options)
        #expect(RawArgument(argument: text).bytes == bytes)
        seen.insert(text)
      }
    }
    #expect(seen.count == samples.count + 1)
  }

  @Test func onlyNumbersHideTheirDash() {
    let isOption = { (text: String) in RawArgument.encode(Array(text.utf8), options: true).hasPrefix("-") }
    #expect(isOption("-t") && isOption("--json") && isOption("-") && isOption("--"))
    #expect(!isOption("-5") && !isOption("-.5") && !isOption("-1e3"))
    // -0 is the option of get and ls.
    #expect(isOption("-0"))
    #expect(RawArgument.encode(Array("-5".utf8), options: false) == "-5")
  }
}
