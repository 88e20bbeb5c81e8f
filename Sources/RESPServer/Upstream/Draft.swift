import SharedTable
import UpstreamWrites

/// What commands would change of a mirrored table, and what they looked at for it.
///
/// A class, because a section is borrowed while it is looked at, and notes that here.
final class Draft {
  let table: Table
  private(set) var commit: UpstreamCommit

  init(of table: Table) {
    self.table = table
    commit = UpstreamCommit(at: 0)
  }

  /// Nothing was drafted yet: the table is looked at, at a revision.
  func begin(at revision: Int64) { commit = UpstreamCommit(at: revision) }

  /// A key's new value, as far as it is drafted; `.some(nil)`: it is removed.
  func change(of key: [UInt8]) -> [UInt8]?? {
    if let change = commit.changes[key] { return change }
    return commit.removesOthers && key != Self.state ? .some(nil) : nil
  }

  /// Notes that a key was looked at in the table, and whether it was there.
  func note(_ key: [UInt8], isPresent: Bool) {
    // The store has no such key: the mirror keeps its state there.
    if key != Self.state { commit.premises[key] = isPresent }
  }

  func set(_ key: [UInt8], _ value: [UInt8]) throws(TableError) {
    try table.checkUpstreamKey(key)
    // The mirror of a store with what its table does not take would stop.
    try table.checkUpstreamValue(value)
    commit.changes[key] = .some(value)
  }

  func remove(_ key: [UInt8]) throws(TableError) {
    try table.checkUpstreamKey(key)
    commit.changes[key] = commit.removesOthers ? nil : .some(nil)
  }

  func removeAll() {
    commit.changes = [:]
    commit.removesOthers = true
  }

  /// Forgets what was drafted since a copy of ``commit`` was taken; what was looked at stays a premise.
  func restore(_ earlier: UpstreamCommit) {
    (commit.changes, commit.removesOthers) = (earlier.changes, earlier.removesOthers)
  }

  private static let state = Array(Table.Upstream.key.utf8)
}
