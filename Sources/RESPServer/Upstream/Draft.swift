import SharedTable
import ToolSupport
import UpstreamWrites

/// What commands would change of a mirrored table, and what they looked at for it.
///
/// A class, because a section is borrowed while it is looked at, and notes that here.
final class Draft {
  let table: Table
  private(set) var commit: UpstreamCommit
  /// Of the keys and values that are to be stored.
  private var byteCount = 0
  /// Why a command could not be drafted that would go beyond the bound of all that is; nil if none would.
  private(set) var excess: TableError?

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
    try enter(key, value)
  }

  /// Commands that are short may draft much, as COPY does. Where a transaction of a table's own would find it full, this one would take all of
  /// the daemon's memory.
  private func enter(_ key: [UInt8], _ value: [UInt8]) throws(TableError) {
    let sum = byteCount - storedBytes(of: key) + key.count + value.count
    guard sum <= table.capacityBytes else {
      let error = TableError(
        .tooLarge, table: table.name,
        "more is to be stored at once than the table's capacity of \(ByteCount(bytes: table.capacityBytes)), so nothing was written; store less at once"
      )
      excess = error
      throw error
    }
    commit.changes[key] = .some(value)
    byteCount = sum
  }

  func remove(_ key: [UInt8]) throws(TableError) {
    try table.checkUpstreamKey(key)
    byteCount -= storedBytes(of: key)
    commit.changes[key] = commit.removesOthers ? nil : .some(nil)
  }

  private func storedBytes(of key: [UInt8]) -> Int {
    guard let value = commit.changes[key] ?? nil else { return 0 }
    return key.count + value.count
  }

  func removeAll() {
    commit.changes = [:]
    commit.removesOthers = true
    byteCount = 0
  }

  /// Runs `body`, and forgets what it drafted if it throws; what it looked at stays a premise.
  func withSavepoint<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    let earlier = (commit: commit, byteCount: byteCount)
    do throws(E) {
      return try body()
    } catch {
      (commit.changes, commit.removesOthers) = (earlier.commit.changes, earlier.commit.removesOthers)
      byteCount = earlier.byteCount
      throw error
    }
  }

  private static let state = Array(Table.Upstream.key.utf8)
}
