/// Makes keys of the bytes that a terminal sends: characters of UTF-8, control characters, sequences of cursor keys.
struct KeyDecoder {
  enum Key: Equatable {
    case text(Unicode.Scalar)
    /// A letter with Ctrl; Enter is `m`, Tab `i`, Backspace `?`.
    case control(Character)
    case left, right, up, down, home, end, delete, wordLeft, wordRight, deleteWord
    /// A sequence that means nothing here.
    case unknown
  }

  private var pending: [UInt8] = []

  /// The keys that are whole with these bytes; what is not waits for the next.
  mutating func keys(_ bytes: some Sequence<UInt8>) -> [Key] {
    pending += bytes
    var keys: [Key] = []
    while let (key, count) = first() {
      pending.removeFirst(count)
      keys.append(key)
    }
    return keys
  }

  /// The first key and how many bytes it has; nil if more must come.
  private func first() -> (Key, Int)? {
    guard let byte = pending.first else { return nil }
    switch byte {
    case 0x1b: return sequence()
    case 0x7f: return (.control("?"), 1)
    case 0..<0x20: return (.control(Character(UnicodeScalar(byte + 0x60))), 1)
    default: return scalar()
    }
  }

  /// A character; bytes that are none are unknown keys, one each.
  private func scalar() -> (Key, Int)? {
    let length = Self.length(of: pending[0])
    let bytes = pending.prefix(length)
    if let text = String(validating: bytes, as: UTF8.self), let scalar = text.unicodeScalars.first,
      bytes.count == length
    {
      // C1 controls are none of a person's, and terminals obey them.
      return ((0x80..<0xa0).contains(scalar.value) ? .unknown : .text(scalar), length)
    }
    let isBegun = bytes.count < length && bytes.dropFirst().allSatisfy { $0 & 0xc0 == 0x80 }
    return isBegun ? nil : (.unknown, 1)
  }

  private static func length(of lead: UInt8) -> Int {
    switch lead {
    case 0xc2...0xdf: 2
    case 0xe0...0xef: 3
    case 0xf0...0xf4: 4
    default: 1
    }
  }

  /// ESC [ … letter, ESC O letter, ESC letter (Alt).
  private func sequence() -> (Key, Int)? {
    guard pending.count > 1 else { return nil }
    switch pending[1] {
    case UInt8(ascii: "["):
      guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7e).contains($0) }) else {
        // No key sends more: it is not one.
        return pending.count > 32 ? (.unknown, pending.count) : nil
      }
      return (Self.key(pending[2...end]), end + 1)
    case UInt8(ascii: "O"): return pending.count > 2 ? (Self.key(pending[2...2]), 3) : nil
    case UInt8(ascii: "b"): return (.wordLeft, 2)
    case UInt8(ascii: "f"): return (.wordRight, 2)
    case 0x7f: return (.deleteWord, 2)
    // Esc alone, before the next key.
    default: return (.unknown, 1)
    }
  }

  private static func key(_ sequence: ArraySlice<UInt8>) -> Key {
    switch String(decoding: sequence, as: UTF8.self) {
    case "A": .up
    case "B": .down
    case "C": .right
    case "D": .left
    case "H", "1~", "7~": .home
    case "F", "4~", "8~": .end
    case "3~": .delete
    case "1;5C", "1;3C": .wordRight
    case "1;5D", "1;3D": .wordLeft
    default: .unknown
    }
  }
}
