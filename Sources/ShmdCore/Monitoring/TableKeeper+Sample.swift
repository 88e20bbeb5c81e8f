import SharedMemory
import SharedTable
import TableMetrics

/// What monitoring asks of the keeper. A table at a time: between two of them the thread can make a
/// round, and feed the watchdog.
extension TableKeeper {
  /// How many changes a sample tells.
  static let changeCount = 12

  /// A sample of one table; nil if it is not in care (any more).
  ///
  /// It takes what `shmctl stat` takes: no lock of the writers'.
  /// - Returns: also for how long the table thread was busy with it.
  func sample(of name: String) -> (table: TableSample?, nanoseconds: UInt64) {
    let start = HostClock.monotonicNanoseconds
    let table = look(at: name)
    return (table, HostClock.monotonicNanoseconds - start)
  }

  private func look(at name: String) -> TableSample? {
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
  /// idle one. Of fewer versions where those made too many changes, and of one large barrier only the first ones.
  static func recentChanges(of table: Table) -> [TableChange] {
    var newest: [TableChange] = []
    for versions in [UInt64(changeCount), 3, 1] {
      let look = recentChanges(of: table, versions: versions)
      newest = look.newest
      if look.isWhole { break }
    }
    return newest
  }

  /// - Returns: whether the changes of all those versions were looked at.
  private static func recentChanges(of table: Table, versions: UInt64) -> (newest: [TableChange], isWhole: Bool) {
    let version = table.version
    var feed = BlockingChanges(table, after: version > versions ? version - versions : 0, prefix: [])
    var found: [TableChange] = []
    while found.count < mostChangesLookedAt {
      guard let change = try? feed.next(timeout: .zero) else { return (found.suffix(changeCount).reversed(), true) }
      if change.key != nil { found.append(change) }
    }
    return (found.suffix(changeCount).reversed(), false)
  }

  private static let mostChangesLookedAt = 1000
}
