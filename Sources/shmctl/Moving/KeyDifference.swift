import TableDump
import ToolSupport

/// In which keys two sides differ: takes all records of the first, then all of the second.
///
/// Of the first every key and 24 bytes for its value are kept, of the second only differences.
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

  private struct Seen: Equatable {
    let digest: [UInt64]
    let expiry: UInt64
  }

  private let ignoreExpiry: Bool
  private var left: [[UInt8]: Seen] = [:]
  private var changes: [(key: [UInt8], change: Change)] = []

  init(ignoreExpiry: Bool) { self.ignoreExpiry = ignoreExpiry }

  mutating func add(first record: DumpRecord) { left[record.keyBytes] = seen(record) }

  mutating func add(second record: DumpRecord) {
    let key = record.keyBytes
    switch left.removeValue(forKey: key) {
    case nil: changes.append((key, .added))
    case let other where other != seen(record): changes.append((key, .changed))
    default: break
    }
  }

  private func seen(_ record: DumpRecord) -> Seen {
    Seen(digest: record.digest, expiry: ignoreExpiry ? 0 : record.attributes.expiry)
  }

  /// Writes a line for each key, sorted.
  /// - Throws: `notFound` if there is one.
  func tell(json: Bool) throws {
    let all = (changes + left.keys.map { ($0, .removed) }).sorted { $0.key.lexicographicallyPrecedes($1.key) }
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
