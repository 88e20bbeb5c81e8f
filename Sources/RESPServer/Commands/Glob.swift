import SharedTable

/// A pattern of keys or channels, made ready for many of them: `*`, `?`, `[a-c]`, `[^a]`, `\x`, as Redis matches them.
///
/// It takes time in proportion to a text's length, for each 64 elements of the pattern, whatever stars that has. Looking anew behind the
/// last star at each byte would take pattern times text: a client could choose both so that one match takes seconds, and the event loop
/// answers nobody meanwhile.
///
/// All places of the pattern at which a match may stand are kept as bits: bit *n* says that the first *n* elements stand for what was
/// looked at of the text. An element stands for one byte; a star keeps the bit of its place.
struct Glob: Sendable {
  /// Nil: the pattern has more elements than a text has bytes, and matches none.
  private let masks: Masks?

  private struct Masks {
    let wordCount: Int
    /// Of a byte's words, bit *n*: the *n*th element stands for the byte.
    var admits: [UInt64]
    /// Bit *n*: a star stands behind the *n*th element.
    var stars: [UInt64]
    var elementCount = 0

    init(wordCount: Int) {
      self.wordCount = wordCount
      admits = [UInt64](repeating: 0, count: 256 * wordCount)
      stars = [UInt64](repeating: 0, count: wordCount)
    }

    mutating func noteStar() { stars[elementCount / 64] |= 1 << UInt64(elementCount % 64) }

    mutating func add(_ element: Element) {
      elementCount += 1
      let (word, bit) = (elementCount / 64, 1 << UInt64(elementCount % 64) as UInt64)
      element.forEachByte { admits[Int($0) * wordCount + word] |= bit }
    }
  }

  private static func wordCount(_ length: Int, _ longest: Int) -> Int { min(length, longest) / 64 + 1 }

  /// How long a pattern of a length takes for each byte of a text, as a multiple of what one of fewer than 64 bytes does. It has
  /// ``bytesOfCost`` of memory as often.
  static func cost(ofLength length: Int) -> Int { wordCount(length, .max) }

  static let bytesOfCost = 256 * 8

  /// - Parameter longest: how many bytes a text has at most.
  init(_ pattern: [UInt8], longest: Int) {
    var masks = Masks(wordCount: Self.wordCount(pattern.count, longest))
    var place = 0
    while place < pattern.count {
      if pattern[place] == UInt8(ascii: "*") {
        place += 1
        masks.noteStar()
      } else {
        guard masks.elementCount < longest else {
          self.masks = nil
          return
        }
        masks.add(Self.element(of: pattern, &place))
      }
    }
    self.masks = masks
  }

  /// A SCAN looks at up to a thousand keys of up to 64 KiB in one step, and KEYS in a transaction does so while all writers of the host wait: each
  /// 64 bytes of the pattern take as long again.
  private static var longestOfKeys: Int { 1 << 10 }

  init(ofKeys pattern: [UInt8]) throws(CommandError) {
    guard pattern.count <= Self.longestOfKeys else {
      throw CommandError("ERR a pattern of keys may have \(Self.longestOfKeys) bytes; this has \(pattern.count)")
    }
    self.init(pattern, longest: Table.keyLengths.upperBound)
  }

  func matches(_ text: [UInt8]) -> Bool { text.withBytes { matches($0) } }

  func matches(_ text: Bytes) -> Bool {
    // A text shorter than that keeps some place to its end, whatever it is: all words of the pattern, for each of its bytes.
    guard let masks, text.count >= masks.elementCount else { return false }
    let (count, last) = (masks.wordCount, masks.elementCount)
    if count == 1 { return matchesShort(text, masks.admits, masks.stars[0], last) }
    var places = [UInt64](repeating: 0, count: count)
    places[0] = 1
    for index in 0..<text.count {
      let start = Int(text[index]) * count
      var carry: UInt64 = 0
      var any: UInt64 = 0
      for word in 0..<count {
        let moved = places[word] << 1 | carry
        carry = places[word] >> 63
        places[word] = moved & masks.admits[start + word] | places[word] & masks.stars[word]
        any |= places[word]
      }
      if any == 0 { return false }
    }
    return places[last / 64] >> UInt64(last % 64) & 1 == 1
  }

  /// A pattern of fewer than 64 bytes, as nearly all are.
  private func matchesShort(_ text: Bytes, _ admits: [UInt64], _ stars: UInt64, _ last: Int) -> Bool {
    var places: UInt64 = 1
    for index in 0..<text.count {
      places = places << 1 & admits[Int(text[index])] | places & stars
      if places == 0 { return false }
    }
    return places >> UInt64(last) & 1 == 1
  }
}
