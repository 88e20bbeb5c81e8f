import SharedTable
import TableMirror

/// How a mirror stood at a sample. No table is read for it: samples are taken on threads of Swift's pool.
struct MirrorSample: Sendable {
  let table: String
  let report: MirrorReport
  /// How old the table may have been; nil: it never was whole.
  let lagNanoseconds: UInt64?

  init(table: String, _ report: MirrorReport) {
    self.table = table
    self.report = report
    lagNanoseconds = report.status?.lag?.clampedNanoseconds
  }
}
