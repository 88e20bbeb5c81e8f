import SharedTable
import TableMetrics

/// What monitoring asks of the keeper. A table at a time: between two of them the thread serves turn and watchdog.
extension TableKeeper {
  /// How many changes a sample tells.
  static let changeCount = 12

  /// A sample of one table; nil if it is not in care (any more).
  ///
  /// It takes what `shmctl stat` takes: no lock of the writers'.
  func sample(of name: String) -> TableSample? {
    guard let managed = tables.first(where: { $0.name == name }) else { return nil }
    let durable = managed.configuration.durability == .none ? nil : managed.table.durableVersion
    return TableSample(
      figures: TableFigures(managed.table), trouble: managed.trouble?.message,
      refusals: managed.refusedChanges.map(\.message), durability: managed.configuration.durability,
      durableVersion: durable, changes: Self.recentChanges(of: managed.table))
  }

  /// The tables that cannot be had, each with why.
  var blockedTables: [BlockedSample] { blocked.map { BlockedSample(table: $0.name, problem: $0.trouble.message) } }

  /// The newest changes, newest first: looked for among the last versions only, so that a busy table costs no more than an
  /// idle one.
  private static func recentChanges(of table: Table) -> [TableChange] {
    let version = table.version
    let start = version > UInt64(changeCount) ? version - UInt64(changeCount) : 0
    var feed = BlockingChanges(table, after: start, prefix: [])
    var found: [TableChange] = []
    // Of one large barrier only the first changes: 64 are looked at.
    while found.count < 64, let change = try? feed.next(timeout: .zero) {
      if change.key != nil { found.append(change) }
    }
    return found.suffix(changeCount).reversed()
  }
}
