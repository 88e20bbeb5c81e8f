/// A pattern of the shell's kind for bytes that are mostly UTF-8: `*`, `?`, `[a-z]`, `[!a-z]`, `\` before a byte that is meant.
///
/// A `[` without its `]` is itself. Takes time in proportion to the pattern's length times the text's, whatever stars it has.
public struct GlobPattern: Sendable {
  private enum Part: Sendable {
    case byte(UInt8)
    /// `?`: a character, of as many bytes as its UTF-8 has.
    case character
    case oneOf([ClosedRange<UInt8>], isNegated: Bool)
    case anything
  }

  private let parts: [Part]

  public init(_ pattern: [UInt8]) {
    var parts: [Part] = []
    var rest = pattern[...]
    // Behind one that has no end none has: what would end that one would end this one.
    var setsEnd = true
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "*"): parts.append(.anything)
      case UInt8(ascii: "?"): parts.append(.character)
      case UInt8(ascii: "\\"): parts.append(.byte(rest.popFirst() ?? byte))
      case UInt8(ascii: "[") where setsEnd:
        let set = Self.set(&rest)
        setsEnd = set != nil
        parts.append(set ?? .byte(byte))
      default: parts.append(.byte(byte))
      }
    }
    self.parts = parts
  }

  /// What every match begins with.
  public var literalPrefix: [UInt8] {
    var prefix: [UInt8] = []
    for case .byte(let byte) in parts.prefix(while: { if case .byte = $0 { true } else { false } }) {
      prefix.append(byte)
    }
    return prefix
  }

  /// What stands behind a `[`; nil, and nothing taken, if it has no end.
  private static func set(_ rest: inout ArraySlice<UInt8>) -> Part? {
    var inner = rest
    let isNegated = inner.first == UInt8(ascii: "!") || inner.first == UInt8(ascii: "^")
    if isNegated { inner.removeFirst() }
    var ranges: [ClosedRange<UInt8>] = []
    while let low = inner.popFirst() {
      if low == UInt8(ascii: "]"), !ranges.isEmpty {
        rest = inner
        return .oneOf(ranges, isNegated: isNegated)
      }
      var high = low
      if inner.first == UInt8(ascii: "-"), let end = inner.dropFirst().first, end != UInt8(ascii: "]") {
        high = end
        inner.removeFirst(2)
      }
      ranges.append(min(low, high)...max(low, high))
    }
    return nil
  }

  /// Whether the pattern stands for the whole text.
  public func matches(_ text: [UInt8]) -> Bool {
    var (part, position) = (0, 0)
    // Where the last star stands, and how far the text is that it stands for: it takes a byte more at each failure.
    var star: (part: Int, position: Int)?
    while position < text.count || part < parts.count {
      if part < parts.count, case .anything = parts[part] {
        star = (part, position)
        part += 1
      } else if part < parts.count, let length = Self.length(parts[part], text, position) {
        part += 1
        position += length
      } else if let last = star, last.position < text.count {
        star = (last.part, last.position + 1)
        (part, position) = (last.part + 1, last.position + 1)
      } else {
        return false
      }
    }
    return true
  }

  /// Whether the byte belongs to a character that begins before it: a star may have taken a part of that one.
  private static func isInsideCharacter(_ text: [UInt8], _ position: Int) -> Bool {
    var start = position
    while start > 0, position - start < 3, text[start] & 0xc0 == 0x80 { start -= 1 }
    return start < position && text[start] >= 0xc0
  }

  /// How many bytes the part stands for here; nil if none.
  private static func length(_ part: Part, _ text: [UInt8], _ position: Int) -> Int? {
    guard position < text.count else { return nil }
    let byte = text[position]
    switch part {
    case .byte(let wanted): return byte == wanted ? 1 : nil
    case .oneOf(let ranges, let isNegated): return ranges.contains { $0.contains(byte) } != isNegated ? 1 : nil
    case .anything: return nil
    case .character:
      guard !isInsideCharacter(text, position) else { return nil }
      guard byte >= 0xc0 else { return 1 }
      return 1 + text[(position + 1)...].prefix(3).prefix { $0 & 0xc0 == 0x80 }.count
    }
  }
}
