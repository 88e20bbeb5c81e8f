/// How an edited line stands on a terminal: in one row, moved sideways where it is longer.
struct LineView {
  /// What is shown of the line, and in which column the cursor stands, from 0.
  let text: String
  let column: Int

  init(prompt: String, before: String, after: String, width: Int) {
    let room = max(4, width - 1)
    // A narrow terminal has no room for a long prompt.
    let prompt = Self.columns(prompt) <= room / 2 ? prompt : "> "
    // From the cursor outwards: what is not shown is not measured. One column stays for the cursor.
    let rest = room - Self.columns(prompt)
    let (count, columns) = Self.fitting(before.reversed(), in: rest - 1)
    let left = prompt + before.suffix(count)
    text = left + after.prefix(Self.fitting(after, in: rest - columns).count)
    column = Self.columns(left)
  }

  /// How many characters, from the first on, fit into so many columns, and how many of these they take.
  private static func fitting(_ text: some Sequence<Character>, in room: Int) -> (count: Int, columns: Int) {
    var (count, taken) = (0, 0)
    for character in text {
      let width = columns(character)
      guard taken + width <= room else { break }
      count += 1
      taken += width
    }
    return (count, taken)
  }

  /// How many columns a text takes: two for East Asian characters and emoji, none for combining marks.
  static func columns(_ text: String) -> Int { text.reduce(0) { $0 + columns($1) } }

  private static func columns(_ character: Character) -> Int { character.unicodeScalars.map(columns).max() ?? 0 }

  private static func columns(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: 0
    default: scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }
  }

  /// Hangul, Han, Kana, full forms and their like: Unicode's East Asian Width, by blocks.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x4dbf, 0x4e00...0xa4cf, 0xa960...0xa97c, 0xac00...0xd7a3,
    0xf900...0xfaff,
    0xfe30...0xfe6f, 0xff01...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f900...0x1f9ff, 0x20000...0x3fffd,
  ]
}
