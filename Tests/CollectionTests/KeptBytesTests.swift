import Testing

@testable import SharedTable

/// Names are copied by a length that the compiler knows where they are short; what comes behind them is right in both cases.
@Suite struct KeptBytesTests {
  private func text(_ count: Int, from first: Int) -> [UInt8] { (0..<count).map { UInt8(0x61 + (first + $0) % 26) } }

  @Test(arguments: [0, 1, 31, 32, 33, 202]) func numbersFollowThem(_ count: Int) {
    let name = text(count, from: 0)
    let kept = KeptBytes(name)
    defer { kept.deallocate() }
    for number in [0, 9, 10, 99, 100, 1_234_567, Int.max] {
      let key = kept.withNumberedKey(number) { [UInt8]($0) }
      #expect(key == name + Array("\(number)".utf8))
    }
  }

  @Test(arguments: [0, 1, 31, 32, 33, 202]) func restsFollowThem(_ count: Int) throws {
    let name = text(count, from: 0)
    let kept = KeptBytes(name)
    defer { kept.deallocate() }
    for length in [0, 1, 31, 32, 33, 800] {
      let rest = text(length, from: 7)
      let (key, shortKey) = try rest.withUnsafeBytes { bytes in
        (
          PrefixedKey(kept, bytes).withKeyBytes { [UInt8]($0) },
          try kept.withShortKey(bytes) { key throws(TableError) in [UInt8](key) }
        )
      }
      #expect(key == name + rest)
      #expect(shortKey == name + rest)
    }
  }
}
