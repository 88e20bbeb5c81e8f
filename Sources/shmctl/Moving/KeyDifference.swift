import TableDump
import ToolSupport

/// In which keys two sides differ: takes all records of the first, then all of the second.
///
/// Of the first every key and 24 bytes for its value are kept, of the second only differences. Of a key that a side has twice, as
/// lines of JSON that were written by hand may, the last record counts.
struct KeyDifference {
  private enum Change: String {
    case removed, added, changed

    var mark: String {
      switch self {
      case .removed: "-"
      case .added: "+"
      case .changed: "~"
      }
    }
  }

  private struct Seen {
    let digest: [UInt64]
    let expiry: UInt64
    /// Whether the second side has the key, too.
    var isMet = false

    func isSame(as other: Seen) -> Bool { digest == other.digest && expiry == other.expiry }
  }

  private let ignoreExpiry: Bool
  private var left: [[UInt8]: Seen] = [:]
  private var changes: [[UInt8]: Change] = [:]

  init(ignoreExpiry: Bool) { self.ignoreExpiry = ignoreExpiry }

  mutating func add(first record: DumpRecord) { left[record.keyBytes] = seen(record) }

  mutating func add(second record: DumpRecord) {
    let key = record.keyBytes
    guard let first = left[key] else { return changes[key] = .added }
    left[key]?.isMet = true
    changes[key] = first.isSame(as: seen(record)) ? nil : .changed
  }

  private func seen(_ record: DumpRecord) -> Seen {
    Seen(digest: record.digest, expiry: ignoreExpiry ? 0 : record.attributes.expiry)
  }

  /// Writes a line for each key, sorted.
  /// - Throws: `notFound` if there is one.
  func tell(json: Bool) throws {
    let removed = left.lazy.filter { !$0.value.isMet }.map { (key: $0.key, change: Change.removed) }
    let all = (changes.map { (key: $0.key, change: $0.value) } + removed).sorted {
      $0.key.lexicographicallyPrecedes($1.key)
    }
    var output: [UInt8] = []
    for (key, change) in all { output += Self.line(key, change, json: json) }
    try StandardOutput.write(output)
    if !all.isEmpty { throw ExitStatus.notFound }
  }

  private static func line(_ key: [UInt8], _ change: Change, json: Bool) -> [UInt8] {
    guard json else { return Array("\(change.mark) ".utf8) + WordLine.escaped(key) + [UInt8(ascii: "\n")] }
    var object = JSONObject()
    object.add("key", bytes: key)
    object.add("change", change.rawValue)
    return object.line
  }
}
