import SharedTable
import TableDump
import ToolSupport

/// Makes a table hold what a dump holds, in one barrier: readers see the one or the other. A dump of a prefix says nothing of other keys:
/// they stay.
struct RecordReplace {
  private let table: Table
  private let source: DumpSource

  init(_ table: Table, _ source: DumpSource) {
    self.table = table
    self.source = source
  }

  func run(_ records: UInt64) throws -> LoadReport {
    // Read before the barrier: it should last no longer than it must. No more is kept than the table could hold, and what has
    // expired.
    let now = try table.read { view in view.now }
    var (batches, bytes): ([DumpBatch], Int) = ([], 0)
    var keys = Swift.Set<[UInt8]>(minimumCapacity: Int(records))
    let header = try source.forEachBatch { batch in
      batches.append(batch)
      batch.forEach { record in
        keys.insert(record.keyBytes)
        if !record.attributes.hasExpired(at: now) { bytes += unsafe record.key.count + record.value.count }
      }
      guard bytes <= table.capacityBytes else { throw tooLarge }
    }
    do {
      return try retryingWhenFull { try attempt(batches, keys, header.prefix) }
    } catch let error as TableError where error.mayFitAfterReclaiming {
      throw Complaint(
        .full, "\(error); nothing was changed: load it into a new table, or remove keys and load it with --merge")
    }
  }

  private var tooLarge: Complaint {
    Complaint(
      .full, table: table.name,
      "the dump's keys and values have more bytes than its capacity of \(ByteCount(bytes: table.capacityBytes)); nothing was changed: load "
        + "it into a larger table")
  }

  private func attempt(
    _ batches: [DumpBatch], _ keys: Swift.Set<[UInt8]>, _ prefix: [UInt8]
  ) throws -> LoadReport {
    try table.barrier { tx in
      var report = LoadReport(applied: 0)
      for key in try tx.keys(prefix: prefix) where !keys.contains(key) {
        try tx.remove(key)
        report.removed += 1
      }
      let now = tx.now
      for batch in batches {
        try batch.forEach { record in
          if record.attributes.hasExpired(at: now) {
            report.expired += 1
            if try tx.remove(record.keyBytes) { report.removed += 1 }
          } else {
            try tx.store(record)
            report.applied += 1
          }
        }
      }
      return report
    }
  }
}
