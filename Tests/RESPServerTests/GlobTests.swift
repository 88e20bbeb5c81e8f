import TestSupport
import Testing

@testable import RESPServer

/// Patterns of keys.
@Suite struct GlobTests {
  /// Both have the same grammar.
  @Test func aPatternForManyKeysMatchesWhatItMatchesForOne() {
    var random = SystemRandomNumberGenerator()
    let (signs, letters) = (Array("ab*?[]^-\\\\*".utf8), Array("abc]-^\\".utf8))
    func text(_ alphabet: [UInt8], _ most: Int) -> [UInt8] {
      (0..<Int.random(in: 0...most, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
    }
    var matched = 0
    for round in 0..<2_000 {
      // Beyond one word of places, too.
      let padding = round % 4 == 0 ? [UInt8](repeating: 97, count: 60 + round % 80) : []
      let pattern = padding + text(signs, 8)
      let matcher = GlobMatcher(pattern, longest: 1_000)
      for _ in 0..<8 {
        let key = padding + text(letters, 8)
        let expected = Glob.matches(pattern, key)
        #expect(key.withBytes { matcher.matches($0) } == expected, "\(pattern) \(key)")
        if expected { matched += 1 }
      }
    }
    #expect(matched > 100)
    // More elements than a key has bytes.
    #expect(![97, 97].withBytes { GlobMatcher([97, 97], longest: 1).matches($0) })
  }

  /// Others wait meanwhile.
  @Test func aPatternOfManyPlacesHoldsUpNobody() async throws {
    try await withServer(capacityBytes: 16 << 20) { server, client throws in
      let other = try server.client()
      for number in 10..<20 {
        _ = try client.call("SET", String(repeating: "a", count: 30_000) + "\(number)", "v")
      }
      let pattern = "*" + String(repeating: "a", count: 15_000) + "b"
      for command in [["KEYS", pattern], ["SCAN", "0", "MATCH", pattern]] {
        try client.send(RedisClient.encode(command.map { Array($0.utf8) }))
        for _ in 0..<2 { #expect(try other.call("PING") == "+PONG") }
        #expect(try client.answer().hasSuffix("[]") || command[0] == "SCAN")
      }
    }
  }
}
