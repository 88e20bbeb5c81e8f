import SharedTable
import TableDump

/// Runs a closure on one version of a table for as long as a dump takes.
enum RecordScan {
  /// Whether what the closure writes may wait for a reader of a pipe without holding up anybody: a long snapshot, which
  /// costs its table memory up to the limbo budget and is ended then.
  static func mayWait(_ table: Table) -> Bool { table.variant == .rcu && !table.isObserver }

  static func run<R>(_ table: Table, _ body: (borrowing ReadView) throws -> R) throws -> R {
    guard mayWait(table) else { return try table.read(body) }
    return try table.snapshot().read(body)
  }
}
