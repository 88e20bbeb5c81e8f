/// A line that a person edits, without the terminal: keys come in, text and cursor are what is to be shown.
struct LineEditor {
  enum Outcome: Equatable {
    case editing
    case accepted(String)
    /// Ctrl-C: the line is thrown away.
    case cancelled
    /// Ctrl-D on an empty line.
    case ended
    case wantsCompletion
    case wantsClear
  }

  private(set) var before = ""
  private(set) var after = ""
  var text: String { before + after }

  private let history: [String]
  /// Which line of the history is shown; its count stands for the new one.
  private var shown: Int
  /// The new line, while one of the history is shown.
  private var draft = ""
  /// Lines of the history begin with what was typed before the first step back.
  private var searched: String?

  /// - Parameter history: the oldest first.
  init(history: [String] = []) {
    self.history = history
    shown = history.count
  }

  mutating func press(_ key: KeyDecoder.Key) -> Outcome {
    if key != .up, key != .down, key != .control("p"), key != .control("n") { searched = nil }
    switch key {
    case .text(let scalar): before.unicodeScalars.append(scalar)
    case .control(let letter): return control(letter)
    case .left: moveLeft()
    case .right: moveRight()
    case .home: (before, after) = ("", text)
    case .end: (before, after) = (text, "")
    case .delete: if !after.isEmpty { after.removeFirst() }
    case .wordLeft: while moveLeft(), !isAtWord {}
    case .wordRight: while moveRight(), !isAtWordsEnd {}
    case .deleteWord: deleteWord()
    case .up: step(-1)
    case .down: step(1)
    case .unknown: break
    }
    return .editing
  }

  private mutating func control(_ letter: Character) -> Outcome {
    switch letter {
    case "m", "j": return .accepted(text)
    case "c": return .cancelled
    case "d":
      if text.isEmpty { return .ended }
      return press(.delete)
    case "i": return .wantsCompletion
    case "l": return .wantsClear
    case "?", "h": if !before.isEmpty { before.removeLast() }
    case "a": return press(.home)
    case "e": return press(.end)
    case "b": return press(.left)
    case "f": return press(.right)
    case "p": step(-1)
    case "n": step(1)
    case "k": after = ""
    case "u": before = ""
    case "w": deleteWord()
    default: break
    }
    return .editing
  }

  @discardableResult
  private mutating func moveLeft() -> Bool {
    guard let last = before.popLast() else { return false }
    after = String(last) + after
    return true
  }

  @discardableResult
  private mutating func moveRight() -> Bool {
    guard !after.isEmpty else { return false }
    before.append(after.removeFirst())
    return true
  }

  private var isAtWord: Bool { after.first.map { $0 != " " } ?? false && before.last.map { $0 == " " } ?? true }
  private var isAtWordsEnd: Bool { before.last.map { $0 != " " } ?? false && after.first.map { $0 == " " } ?? true }

  private mutating func deleteWord() {
    while before.last == " " { before.removeLast() }
    while let last = before.last, last != " " { before.removeLast() }
  }

  /// Through the lines of the history that begin with what was typed.
  private mutating func step(_ direction: Int) {
    if searched == nil {
      searched = text
      if shown == history.count { draft = text }
    }
    var next = shown + direction
    while history.indices.contains(next), !history[next].hasPrefix(searched ?? "") { next += direction }
    guard history.indices.contains(next) || next == history.count, next != shown else { return }
    shown = next
    before = next == history.count ? draft : history[next]
    after = ""
  }

  /// Puts completed text in place of what stands before the cursor, from a byte of it on.
  mutating func complete(_ word: String, from start: Int) {
    before = String(decoding: before.utf8.prefix(start), as: UTF8.self) + word
  }
}
