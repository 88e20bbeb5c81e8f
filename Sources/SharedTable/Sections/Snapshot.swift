public import TableEngine

/// One version of a table, for as long as it is held; usable from any thread.
///
/// What is written meanwhile costs memory, up to the table's limbo budget; past it, the table's policy ends the
/// snapshot (`snapshotTooOld`, never wrong data) or refuses writes. RCU variant only.
public final class Snapshot: Sendable {
  /// The table that it is of.
  public let table: Table
  private let long: LongSnapshot

  init(_ table: Table) throws(TableError) {
    self.table = table
    long = try table.naming(try LongSnapshot(table.segment))
  }

  /// The version that it shows.
  public var version: UInt64 { long.version }

  /// Runs `body` on the snapshot. Never waits.
  /// - Throws: what `body` throws; `snapshotTooOld` once the snapshot was evicted; `wouldDeadlock` inside another
  ///   section of the same table on this thread.
  @inlinable
  public func read<R: ~Copyable>(_ body: (borrowing ReadView) throws -> R) throws -> R {
    // The keeper's slot must stand until the section has ended: a reclaiming writer, which passes slot by slot, could miss
    // the hand-over.
    try withExtendedLifetime(self) { try table.run(try beginRead(), body) }
  }

  @usableFromInline
  func beginRead() throws(TableError) -> ReadSection {
    do { return try long.beginRead() } catch { throw table.named(error) }
  }

  /// The value of a key, copied out; nil if absent or expired. Never waits; throws as ``read(_:)`` does, and `typeMismatch`.
  @inlinable
  public func get<T: TableValue>(_ key: some TableKey, as type: T.Type = T.self) throws -> T? {
    try read { view in try view.get(key, as: type) }
  }
}

extension Table {
  /// Takes a snapshot that outlives sections and threads. Blocks for a moment, while another thread takes it.
  /// - Throws: `unsupported` for the rwlock variant and for observers, `slotsExhausted`.
  public func snapshot() throws(TableError) -> Snapshot { try Snapshot(self) }
}
