/// What a transaction of a mirror has looked at, and what it would change.
///
/// A class, because a transaction is borrowed while it is looked at, and notes that here.
final class UpstreamDraft {
  private let table: Table
  /// Keys that were looked at in the table, and their values' versions; 0 of those that were not there.
  private(set) var seen: [[UInt8]: UInt64] = [:]
  /// New values; nil removes.
  private(set) var changes: [[UInt8]: [UInt8]?] = [:]

  init(of table: Table) { self.table = table }

  /// Nothing depends on the other store.
  var isEmpty: Bool { seen.isEmpty && changes.isEmpty }

  /// A key's value after the changes so far.
  func value(of key: [UInt8], _ view: borrowing ReadView) throws(TableError) -> [UInt8]? {
    if let change = changes[key] { return change }
    let entry = try view.entry(forKey: key)
    // The other store has no such key: the mirror keeps its state there.
    if key != Array(Table.Upstream.key.utf8) { seen[key] = entry?.version ?? 0 }
    return entry?.bytes
  }

  func set(_ key: [UInt8], _ value: [UInt8]?) throws(TableError) {
    try table.checkUpstreamKey(key)
    if let value { try table.checkUpstreamValue(value) }
    changes[key] = .some(value)
  }

  /// Whether all that was looked at is in the table as it was.
  func holds() throws(TableError) -> Bool {
    try table.withSection(timeout: nil) { view throws(TableError) in
      for (key, version) in seen where try view.find(key)?.version ?? 0 != version { return false }
      return true
    }
  }

  /// The commands that make the changes. Where there are none, one that has the other store judge what was looked at: shmd puts to it
  /// what a command that might write has found nothing to do in, and answers a transaction of reads by itself.
  var commands: [[[UInt8]]] {
    if changes.isEmpty { return seen.keys.prefix(1).map { [Array("PERSIST".utf8), $0] } }
    return changes.map { key, value in
      if let value { [Array("SET".utf8), key, value] } else { [Array("DEL".utf8), key] }
    }
  }
}

extension Table {
  /// What the mirror, or its table, does not take is not sent: of several commands shmd would carry out the others.
  package func checkUpstreamKey(_ key: [UInt8]) throws(TableError) {
    guard Table.keyLengths ~= key.count else { throw named(.keyLength(key.count)) }
    guard key != Array(Upstream.key.utf8) else {
      throw TableError(
        .invalid, table: name, "'\(Upstream.key)' is where its mirror keeps its state; choose another key")
    }
  }

  package func checkUpstreamValue(_ value: [UInt8]) throws(TableError) {
    guard value.count <= maximumValueLength else {
      throw named(.valueTooLarge(value.count, maximum: maximumValueLength))
    }
  }
}
