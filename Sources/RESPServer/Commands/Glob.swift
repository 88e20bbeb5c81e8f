/// Patterns of keys and channels: `*`, `?`, `[a-c]`, `[^a]`, `\x`, as Redis matches them.
enum Glob {
  static func matches(_ pattern: [UInt8], _ text: Bytes) -> Bool { matches(pattern[...], text, 0) }

  static func matches(_ pattern: [UInt8], _ text: [UInt8]) -> Bool { text.withBytes { matches(pattern, $0) } }

  /// Two indices, and the last star to return to: no recursion that a pattern of stars could drive.
  private static func matches(_ pattern: ArraySlice<UInt8>, _ text: Bytes, _ start: Int) -> Bool {
    var place = pattern.startIndex
    var index = start
    var star: (place: Int, index: Int)?
    while true {
      if index == text.count {
        while place < pattern.endIndex, pattern[place] == UInt8(ascii: "*") { place += 1 }
        return place == pattern.endIndex
      }
      if place < pattern.endIndex {
        if pattern[place] == UInt8(ascii: "*") {
          star = (place + 1, index)
          place += 1
          continue
        }
        if let next = matchOne(pattern, place, text[index]) {
          place = next
          index += 1
          continue
        }
      }
      guard let back = star else { return false }
      star = (back.place, back.index + 1)
      (place, index) = (back.place, back.index + 1)
    }
  }

  /// - Returns: the place behind the element that matches the byte; nil if it does not.
  private static func matchOne(_ pattern: ArraySlice<UInt8>, _ place: Int, _ byte: UInt8) -> Int? {
    switch pattern[place] {
    case UInt8(ascii: "?"):
      return place + 1
    case UInt8(ascii: "["):
      return matchClass(pattern, place + 1, byte)
    case UInt8(ascii: "\\") where place + 1 < pattern.endIndex:
      return pattern[place + 1] == byte ? place + 2 : nil
    default:
      return pattern[place] == byte ? place + 1 : nil
    }
  }

  private static func matchClass(_ pattern: ArraySlice<UInt8>, _ first: Int, _ byte: UInt8) -> Int? {
    var place = first
    let isNegated = place < pattern.endIndex && pattern[place] == UInt8(ascii: "^")
    if isNegated { place += 1 }
    var isIn = false
    // A class that is not closed ends with the pattern.
    while place < pattern.endIndex, pattern[place] != UInt8(ascii: "]") {
      if pattern[place] == UInt8(ascii: "\\"), place + 1 < pattern.endIndex {
        place += 1
        isIn = isIn || pattern[place] == byte
      } else if place + 2 < pattern.endIndex, pattern[place + 1] == ASCII.minus {
        let (low, high) = (min(pattern[place], pattern[place + 2]), max(pattern[place], pattern[place + 2]))
        place += 2
        isIn = isIn || (low...high).contains(byte)
      } else {
        isIn = isIn || pattern[place] == byte
      }
      place += 1
    }
    return isIn != isNegated ? min(place + 1, pattern.endIndex) : nil
  }
}
