import SharedTable
import TableMetrics

/// What monitoring knows of one table in care, as of one moment.
struct TableSample: Sendable {
  let figures: TableFigures
  /// Why it cannot be looked after, and what the file asks of it in vain.
  let trouble: String?
  let refusals: [String]
  let durability: Durability
  /// The version that is on the disk; nil if no store keeps the table.
  let durableVersion: UInt64?
  /// The newest changes of keys, newest first.
  let changes: [TableChange]

  var name: String { figures.table }
  var statistics: Table.Statistics { figures.statistics }

  /// Of the capacity, in thousandths: what is in use, or where an observer cannot know that, what is claimed.
  var fill: Int {
    let bytes = statistics.usedBytes ?? statistics.claimedBytes
    return statistics.capacityBytes == 0 ? 0 : bytes * 1000 / statistics.capacityBytes
  }
}
