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

  /// What stands for one byte.
  struct Element {
    /// Of each byte whether it is admitted.
    private var bits: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    mutating func insert(_ byte: UInt8) {
      let bit: UInt64 = 1 << UInt64(byte & 63)
      switch byte >> 6 {
      case 0: bits.0 |= bit
      case 1: bits.1 |= bit
      case 2: bits.2 |= bit
      default: bits.3 |= bit
      }
    }

    func admits(_ byte: UInt8) -> Bool {
      let word =
        switch byte >> 6 {
        case 0: bits.0
        case 1: bits.1
        case 2: bits.2
        default: bits.3
        }
      return word >> UInt64(byte & 63) & 1 == 1
    }
  }

  /// The element at a place of a pattern, where no star stands; moves the place behind it.
  static func element(of pattern: [UInt8], _ place: inout Int) -> Element {
    var element = Element()
    switch pattern[place] {
    case UInt8(ascii: "?"):
      for byte in UInt8.min ... .max { element.insert(byte) }
    case UInt8(ascii: "["):
      return classElement(of: pattern, &place)
    case UInt8(ascii: "\\") where place + 1 < pattern.count:
      place += 1
      element.insert(pattern[place])
    default: element.insert(pattern[place])
    }
    place += 1
    return element
  }

  private static func classElement(of pattern: [UInt8], _ place: inout Int) -> Element {
    var members = Element()
    place += 1
    let isNegated = place < pattern.count && pattern[place] == UInt8(ascii: "^")
    if isNegated { place += 1 }
    while place < pattern.count, pattern[place] != UInt8(ascii: "]") {
      if pattern[place] == UInt8(ascii: "\\"), place + 1 < pattern.count {
        place += 1
        members.insert(pattern[place])
      } else if place + 2 < pattern.count, pattern[place + 1] == ASCII.minus {
        let (low, high) = (min(pattern[place], pattern[place + 2]), max(pattern[place], pattern[place + 2]))
        for byte in low...high { members.insert(byte) }
        place += 2
      } else {
        members.insert(pattern[place])
      }
      place += 1
    }
    // A class that is not closed ends with the pattern.
    place = min(place + 1, pattern.count)
    guard isNegated else { return members }
    var others = Element()
    for byte in UInt8.min ... .max where !members.admits(byte) { others.insert(byte) }
    return others
  }
}
