import SharedTable
import TableMirror

/// How a mirror stood at a sample.
struct MirrorLook: Sendable {
  let table: String
  let report: MirrorReport
  /// How old the table may have been; nil: it never was whole.
  let lagNanoseconds: UInt64?

  init(_ table: Table, _ report: MirrorReport) {
    self.table = table.name
    self.report = report
    let lag = (try? table.upstream.lag) ?? nil
    lagNanoseconds = lag.map {
      UInt64(clamping: $0.components.seconds) * 1_000_000_000
        + UInt64(clamping: $0.components.attoseconds / 1_000_000_000)
    }
  }
}
