import SharedTable
import ToolSupport

/// What somebody who mistyped a word may have meant.
enum Suggestion {
  /// What other programs call our commands.
  private static let synonyms = [
    "delete": "del", "info": "stat", "keys": "ls", "list": "ls", "man": "help", "remove": "del", "rm": "del",
  ]

  /// The command that is meant by the word elsewhere, or the nearest to it; nil if none is near.
  static func command(like word: String) -> String? {
    synonyms[word] ?? nearest(to: word, among: Shmctl.shownCommands)
  }

  /// What the parser says of an option that it does not know: it suggests options that have no more than a letter in common, too.
  /// - Returns: nil if it suggests none; else what it says besides, and whether the suggestion is another word.
  static func ofParser(in message: Substring) -> (rest: String, isFar: Bool)? {
    let parts = message.split(separator: "'", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0] == "Unknown option ", parts[2] == ". Did you mean " else { return nil }
    let names = [parts[1], parts[3]].map { String($0.drop { $0 == "-" }) }
    return ("Unknown option '\(parts[1])'", nearest(to: names[0], among: [names[1]]) == nil)
  }

  /// What to do about a key that is not there. People at a terminal, who mistype, get the nearest one.
  /// - Parameter option: by which the table was named; empty if not by an option.
  static func keys(like key: [UInt8], in table: Table, option: String) -> String {
    guard StandardError.isTerminal, let near = nearestKey(to: key, in: table) else {
      return "'shmctl ls\(option)' shows what there is"
    }
    return "did you mean '\(String.printableStart(near))'?"
  }

  /// Among the first keys that a look meets: it must not cost more than the answer is worth.
  private static let keysLookedAt = 100_000

  private static func nearestKey(to key: [UInt8], in table: Table) -> [UInt8]? {
    guard key.count <= longestWord else { return nil }
    var candidates: [[UInt8]] = []
    try? table.read { view in
      try view.forEachKey(atMost: keysLookedAt) { candidate in
        // Another number of letters is another word.
        if abs(candidate.byteCount - key.count) <= 2 {
          candidates.append(unsafe candidate.withUnsafeBytes { unsafe [UInt8]($0) })
        }
        return true
      }
    }
    return nearest(to: key, among: candidates)
  }

  private static let longestWord = 64

  /// The candidate that is fewest changes away: at most two, and fewer than half of the word.
  static func nearest(to word: [UInt8], among candidates: [[UInt8]]) -> [UInt8]? {
    guard !word.isEmpty, word.count <= longestWord else { return nil }
    let limit = min(2, (word.count + 1) / 2)
    return candidates.lazy
      .filter { abs($0.count - word.count) <= limit }
      .map { (distance: distance(word, $0), word: $0) }
      .filter { $0.distance <= limit }
      .min { ($0.distance, $0.word.count) < ($1.distance, $1.word.count) }?.word
  }

  static func nearest(to word: String, among candidates: [String]) -> String? {
    nearest(to: Array(word.utf8), among: candidates.map { Array($0.utf8) }).map { String(decoding: $0, as: UTF8.self) }
  }

  /// How many letters must be put in, left out, replaced or swapped with their neighbour.
  static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var beforeLast = [Int](repeating: 0, count: b.count + 1)
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1] + [Int](repeating: 0, count: b.count)
      for j in b.indices {
        row[j + 1] = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { row[j + 1] = min(row[j + 1], beforeLast[j - 1] + 1) }
      }
      (beforeLast, last) = (last, row)
    }
    return last[b.count]
  }
}
