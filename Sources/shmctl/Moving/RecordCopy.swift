import SharedTable
import TableDump
import ToolSupport

/// Copies records from table to table, a batch at a time.
enum RecordCopy {
  /// - Parameter mixed: what is not to be mixed, if anything: all records are looked at before the first is stored, and each again as it is.
  static func run(
    from source: Table, prefix: [UInt8], to load: inout RecordLoad, _ mixed: MixedCollections?, quiet: Bool
  ) throws {
    var progress = Progress("copy", total: prefix.isEmpty ? UInt64(source.count) : 0, quiet: quiet)
    defer { progress.end() }
    // In a section of its own: the source's writers wait for no more than one of them.
    if var mixed {
      try RecordScan.run(source) { view in
        try forEachBatch(of: source, view, prefix) { batch in try mixed.refuse(batch) }
      }
    }
    var mixed = mixed
    try RecordScan.run(source) { view in
      try forEachBatch(of: source, view, prefix) { batch in
        try mixed?.refuse(batch)
        try load.apply(batch)
        progress.reached(load.done)
      }
    }
  }

  private static func forEachBatch(
    of table: Table, _ view: borrowing ReadView, _ prefix: [UInt8], _ body: (DumpBatch) throws -> Void
  ) throws {
    var batch = DumpBatch()
    try view.forEachRecord(of: table, prefix: prefix) { record in
      batch.append(record)
      guard batch.isFull else { return }
      try body(batch)
      batch.removeAll()
    }
    try body(batch)
  }
}
