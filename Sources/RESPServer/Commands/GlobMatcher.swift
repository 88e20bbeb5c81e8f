/// A pattern as ``Glob`` has them, made ready for many keys.
///
/// It takes time in proportion to a key's length, for each 64 elements of the pattern, whatever stars that has. ``Glob`` looks anew behind
/// its last star at each byte: a client could choose pattern and keys for which that takes seconds a key, and the event loop answers
/// nobody meanwhile.
///
/// All places of the pattern at which a match may stand are kept as bits: bit *n* says that the first *n* elements stand for what was
/// looked at of the key. An element stands for one byte; a star keeps the bit of its place.
struct GlobMatcher {
  /// Nil: the pattern has more elements than a key has bytes, and matches none.
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

    mutating func addElement(_ isAdmitted: (UInt8) -> Bool) {
      elementCount += 1
      for byte in UInt8.min ... .max where isAdmitted(byte) {
        admits[Int(byte) * wordCount + elementCount / 64] |= 1 << UInt64(elementCount % 64)
      }
    }
  }

  /// - Parameter longest: how many bytes a key has at most.
  init(_ pattern: [UInt8], longest: Int) {
    var masks = Masks(wordCount: min(pattern.count, longest) / 64 + 1)
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
        masks.addElement(Glob.element(of: pattern, &place).admits)
      }
    }
    self.masks = masks
  }

  func matches(_ key: Bytes) -> Bool {
    guard let masks else { return false }
    let (count, last) = (masks.wordCount, masks.elementCount)
    if count == 1 { return matchesShort(key, masks.admits, masks.stars[0], last) }
    var places = [UInt64](repeating: 0, count: count)
    places[0] = 1
    for index in 0..<key.count {
      let start = Int(key[index]) * count
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
  private func matchesShort(_ key: Bytes, _ admits: [UInt64], _ stars: UInt64, _ last: Int) -> Bool {
    var places: UInt64 = 1
    for index in 0..<key.count {
      places = places << 1 & admits[Int(key[index])] | places & stars
      if places == 0 { return false }
    }
    return places >> UInt64(last) & 1 == 1
  }
}
