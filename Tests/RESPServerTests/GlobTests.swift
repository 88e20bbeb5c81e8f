import TestSupport
import Testing

@testable import RESPServer

/// Patterns of keys and channels.
@Suite struct GlobTests {
  @Test func aPatternMatchesWhatItsDefinitionSays() {
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
      let glob = Glob(pattern, longest: 1_000)
      for _ in 0..<8 {
        let key = padding + text(letters, 8)
        let expected = defined(pattern[...], key[...])
        #expect(glob.matches(key) == expected, "\(pattern) \(key)")
        if expected { matched += 1 }
      }
    }
    #expect(matched > 100)
    // More elements than a text has bytes.
    #expect(!Glob([97, 97], longest: 1).matches([97, 97]))
  }

  /// Whether a pattern stands for a text, by what each of its signs means.
  private func defined(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
    guard let sign = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    if sign == UInt8(ascii: "*") {
      return defined(rest, text) || !text.isEmpty && defined(pattern, text.dropFirst())
    }
    guard let byte = text.first else { return false }
    switch sign {
    case UInt8(ascii: "?"): return defined(rest, text.dropFirst())
    case UInt8(ascii: "\\") where !rest.isEmpty:
      return rest.first == byte && defined(rest.dropFirst(), text.dropFirst())
    case UInt8(ascii: "["):
      let (isIn, behind) = definedClass(rest, byte)
      return isIn && defined(behind, text.dropFirst())
    default: return sign == byte && defined(rest, text.dropFirst())
    }
  }

  /// What stands behind a `[`: whether it has the byte, and the pattern behind it. Without a `]` it ends with the pattern.
  private func definedClass(_ pattern: ArraySlice<UInt8>, _ byte: UInt8) -> (isIn: Bool, behind: ArraySlice<UInt8>) {
    var rest = pattern
    let isNegated = rest.first == UInt8(ascii: "^")
    if isNegated { rest.removeFirst() }
    var isIn = false
    while let sign = rest.popFirst(), sign != UInt8(ascii: "]") {
      if sign == UInt8(ascii: "\\"), let literal = rest.popFirst() {
        isIn = isIn || literal == byte
      } else if rest.count >= 2, rest.first == UInt8(ascii: "-") {
        let end = rest.dropFirst().first!
        rest.removeFirst(2)
        isIn = isIn || (min(sign, end)...max(sign, end)).contains(byte)
      } else {
        isIn = isIn || sign == byte
      }
    }
    return (isIn != isNegated, rest)
  }

  /// Others wait meanwhile.
  @Test func aPatternOfManyPlacesHoldsUpNobody() async throws {
    try await withServer(capacityBytes: 16 << 20) { server, client throws in
      let other = try server.client()
      for number in 10..<20 {
        _ = try client.call("SET", String(repeating: "a", count: 30_000) + "\(number)", "v")
      }
      let pattern = "*" + String(repeating: "a", count: 1_000) + "b"
      for command in [["KEYS", pattern], ["SCAN", "0", "MATCH", pattern]] {
        try client.send(RedisClient.encode(command.map { Array($0.utf8) }))
        for _ in 0..<2 { #expect(try other.call("PING") == "+PONG") }
        #expect(try client.answer().hasSuffix("[]") || command[0] == "SCAN")
      }
      let long = String(repeating: "a", count: 1_025)
      let refusal = "-ERR a pattern of keys may have 1024 bytes; this has 1025"
      #expect(try client.call("KEYS", long) == refusal)
      #expect(try client.call("SCAN", "0", "MATCH", long) == refusal)
      #expect(try client.call("SCAN", "0", "MATCH", long, "MATCH", "b") != refusal)
    }
  }
}
