import SharedTable
import Synchronization
import Testing

/// What several threads saw: how often each key, and with which value.
final class Sightings: Sendable {
  private let seen = Locked<[String: [Int?]]>([:])

  @discardableResult
  func add(_ key: RawSpan, _ entry: borrowing EntryView) -> Int {
    let name = key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    let value = entry.value(as: Int.self)
    return seen.withLock { seen in
      seen[name, default: []].append(value)
      return seen.count
    }
  }

  /// Each key of the reference once, with its value, and no other.
  func expect(_ reference: [String: Int], sourceLocation: SourceLocation = #_sourceLocation) {
    let seen = seen.withLock { $0 }
    let wrong = seen.filter { key, values in values != [reference[key]] || reference[key] == nil }
    #expect(wrong.isEmpty, "\(wrong.prefix(5))", sourceLocation: sourceLocation)
    #expect(seen.count == reference.count, sourceLocation: sourceLocation)
  }
}
