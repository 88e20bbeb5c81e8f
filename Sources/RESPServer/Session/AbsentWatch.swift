import SharedTable

/// Keys that were absent when WATCH named them. One that came and went meanwhile leaves no trace in the table, and whoever read it in
/// between depends on what is no more: the table's change log tells.
struct AbsentWatch {
  let database: Database
  let table: Table
  /// With the versions at which they were absent.
  private var keys: [[UInt8]: UInt64]
  private let first: UInt64
  private var scan: ChangeScan
  private var hasCome = false

  /// - Parameter version: that of the section in which the keys were absent.
  init(_ keys: [[UInt8]], of table: Table, _ database: Database, at version: UInt64) {
    self.database = database
    self.table = table
    self.keys = Dictionary(keys.map { ($0, version) }) { first, _ in first }
    first = version
    scan =
      keys.count == 1
      ? ChangeScan(of: table, after: version, prefix: keys[0]) : ChangeScan(of: table, after: version)
  }

  /// - Parameter version: not less than that of the first keys. The log has not been read yet.
  mutating func add(_ more: [[UInt8]], at version: UInt64) {
    for key in more { keys[key] = version }
    scan = ChangeScan(of: table, after: first)
  }

  /// Reads on in the log. Never blocks; the work is that of what was committed since the last call.
  /// - Returns: whether one of the keys has come since, whatever became of it; also if the log has lost what happened.
  mutating func readOnUntilAnyCame() throws -> Bool {
    while !hasCome, let change = try scan.next() {
      switch change {
      case .set(let key, let version): hasCome = keys[key].map { version > $0 } ?? false
      // By a sweep, too, of a key that had expired before.
      case .removed: break
      case .missed: hasCome = true
      }
    }
    return hasCome
  }
}
