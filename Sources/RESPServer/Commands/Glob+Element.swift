extension Glob {
  /// The bytes of which a place of a pattern stands for one.
  struct Element {
    /// Of each byte, in 64 a word.
    private var words = InlineArray<4, UInt64>(repeating: 0)

    mutating func insert(_ byte: UInt8) { words[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }

    mutating func invert() {
      for word in words.indices { words[word] = ~words[word] }
    }

    func forEachByte(_ body: (UInt8) -> Void) {
      for word in words.indices {
        var left = words[word]
        while left != 0 {
          body(UInt8(word * 64 + left.trailingZeroBitCount))
          left &= left - 1
        }
      }
    }
  }

  /// The element at a place of a pattern, where no star stands; moves the place behind it.
  static func element(of pattern: [UInt8], _ place: inout Int) -> Element {
    var element = Element()
    switch pattern[place] {
    case UInt8(ascii: "?"):
      element.invert()
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
    if isNegated { members.invert() }
    return members
  }
}
