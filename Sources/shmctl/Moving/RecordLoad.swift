import Glibc
import SharedTable
import TableDump

/// Puts records into a table, in barriers of bounded size: no writer waits longer than for some thousand records.
struct RecordLoad {
  /// What happens to a record whose key is there.
  enum Rule {
    case overwrite
    case keep
  }

  let table: Table
  let rule: Rule
  /// Where the barriers note how far they are, in the table itself.
  private var note: LoadNote?
  /// Records of this many are taken in one barrier, and this many bytes of them.
  static let groupRecords = 2048
  static let groupBytes = 1 << 20

  /// Records of the dump that are dealt with: applied, kept or expired.
  private(set) var done: UInt64 = 0
  private(set) var applied: UInt64 = 0
  private(set) var kept: UInt64 = 0
  private(set) var expired: UInt64 = 0

  init(_ table: Table, _ rule: Rule) {
    self.table = table
    self.rule = rule
  }

  /// Begins behind what a former load of the same dump has done, and notes its own steps.
  mutating func resume(_ note: LoadNote) throws -> UInt64 {
    self.note = note
    return try note.done(in: table)
  }

  /// Takes the note away: the dump is loaded.
  func finish() throws { try note?.remove(from: table) }

  /// Counts records that are not to be looked at.
  mutating func skip(_ count: Int) { done += UInt64(count) }

  /// Applies a batch from a record on. What is applied when this throws is what `done` says.
  mutating func apply(_ batch: DumpBatch, from first: Int = 0) throws {
    var start = first
    var limit = Self.groupRecords
    while start < batch.count {
      let end = Self.group(batch, start, limit)
      do {
        try applyGroup(batch, start..<end)
        start = end
        // Not back at once: what a nearly full table has no room for would be tried again for each record.
        limit = min(Self.groupRecords, limit * 2)
      } catch let error as TableError where error.mayFitAfterReclaiming && end - start > 1 {
        // Too much for one barrier, or the reclaiming that the failed attempt asked for finds room for a smaller one.
        limit = (end - start) / 2
      }
    }
  }

  private static func group(_ batch: DumpBatch, _ start: Int, _ limit: Int) -> Int {
    var end = start
    var bytes = 0
    while end < batch.count, end - start < limit, end == start || bytes + batch.byteCount(end) <= groupBytes {
      bytes += batch.byteCount(end)
      end += 1
    }
    return end
  }

  private mutating func applyGroup(_ batch: DumpBatch, _ range: Range<Int>) throws {
    let counts = try retryingWhenFull { try attempt(batch, range) }
    done += UInt64(range.count)
    applied += counts.applied
    kept += counts.kept
    expired += counts.expired
  }

  struct Counts {
    var applied: UInt64 = 0
    var kept: UInt64 = 0
    var expired: UInt64 = 0
  }

  private func attempt(_ batch: DumpBatch, _ range: Range<Int>) throws -> Counts {
    try table.barrier { tx in
      let counts = try Self.store(batch, range, rule, in: &tx)
      try note?.set(done + UInt64(range.count), in: &tx)
      return counts
    }
  }

  static func store(
    _ batch: DumpBatch, _ range: Range<Int>, _ rule: Rule, in tx: inout Transaction
  ) throws -> Counts {
    let now = tx.now
    var counts = Counts()
    try batch.forEach(range) { record in
      if record.attributes.hasExpired(at: now) {
        counts.expired += 1
      } else if rule == .keep, try tx.contains(record) {
        counts.kept += 1
      } else {
        try tx.store(record)
        counts.applied += 1
      }
    }
    return counts
  }
}
